/** The entry for browsers and for whatever no other condition names. */
import { usePlatform } from "../core-module.js";
import { browserPlatform } from "../platform/browser.js";

usePlatform(browserPlatform);
export * from "../index.js";
