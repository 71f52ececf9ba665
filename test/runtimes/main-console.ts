/** For runtimes with a console: prints the report. */
import { report } from "./report.js";

console.log(JSON.stringify(await report()));
