/** For pages: hands what they can do to whoever drives the browser. */
import { init } from "flash-sampling";
import { report } from "./report.js";
import { sampleSmall } from "./small-head.js";

Object.assign(globalThis, { report, init, sampleSmall });
