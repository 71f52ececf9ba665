/** The entry for Deno. */
import { usePlatform } from "../core-module.js";
import { filePlatform } from "../platform/files.js";

usePlatform(filePlatform("deno"));
export * from "../index.js";
