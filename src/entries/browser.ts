/** The entry for browsers and for whatever no other condition names. */
import { usePlatform } from "../core-module.js";
import { useGpuPlatform } from "../gpu-platform.js";
import { browserPlatform } from "../platform/browser.js";
import { navigatorGpu } from "../platform/navigator-gpu.js";

usePlatform(browserPlatform);
useGpuPlatform(navigatorGpu);
export * from "../index.js";
