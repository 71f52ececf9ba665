/** The entry for Cloudflare Workers: an imported .wasm file is a WebAssembly.Module there. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { staticPlatform } from "../platform/static.js";
import module from "./core.wasm";

usePlatform(staticPlatform("workerd", module));
useGpuPlatform("Cloudflare Workers have no WebGPU");
export * from "../index.js";
