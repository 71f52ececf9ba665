/** For runtimes with a console: prints the report. Its first argument: what to ask, as JSON. */
import { report } from "./report.js";

console.log(JSON.stringify(await report(JSON.parse(process.argv[2] ?? "{}"))));
