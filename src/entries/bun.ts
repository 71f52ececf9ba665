/** The entry for Bun. */
import { usePlatform } from "../core-module.js";
import { filePlatform } from "../platform/files.js";

usePlatform(filePlatform("bun"));
export * from "../index.js";
