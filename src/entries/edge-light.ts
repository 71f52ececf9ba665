/** The entry for Vercel's edge runtime: "?module" asks its bundler for a WebAssembly.Module. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { staticPlatform } from "../platform/static.js";
import module from "./core.wasm?module";

usePlatform(staticPlatform("edge-light", module));
useGpuPlatform("the edge runtime has no WebGPU");
export * from "../index.js";
