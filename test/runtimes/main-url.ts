/** A page for bundlers that know no `new URL("./core.wasm", import.meta.url)`: it imports the core's address and says so. */
import { init } from "flash-sampling";
import core from "flash-sampling/core.wasm";
import "./main-page.js";

await init({ url: new URL(core, import.meta.url) });
