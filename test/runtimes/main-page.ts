/** For pages: hands the report to whoever drives the browser. */
import { init } from "flash-sampling";
import { report } from "./report.js";

Object.assign(globalThis, { report, init });
