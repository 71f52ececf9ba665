/** Browsers: the two literal URLs below are what bundlers look for and copy. */
import { fetchCore, type Platform } from "../core-module.js";

export const browserPlatform: Platform = {
  name: "browser",
  variants: ["core.relaxed", "core"],
  async loadCore(variant) {
    return fetchCore(variant === "core" ? new URL("./core.wasm", import.meta.url) : new URL("./core.relaxed.wasm", import.meta.url));
  },
};
