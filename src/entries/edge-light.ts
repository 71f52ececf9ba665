/** The entry for Vercel's edge runtime: "?module" asks its bundler for a WebAssembly.Module. */
import { usePlatform } from "../core-module.js";
import { staticPlatform } from "../platform/static.js";
import module from "./core.wasm?module";

usePlatform(staticPlatform("edge-light", module));
export * from "../index.js";
