/** The entry for Cloudflare Workers: an imported .wasm file is a WebAssembly.Module there. */
import { usePlatform } from "../core-module.js";
import { staticPlatform } from "../platform/static.js";
import module from "./core.wasm";

usePlatform(staticPlatform("workerd", module));
export * from "../index.js";
