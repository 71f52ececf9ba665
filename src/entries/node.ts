/** The entry for Node. */
import { usePlatform } from "../core-module.js";
import { filePlatform } from "../platform/files.js";

usePlatform(filePlatform("node"));
export * from "../index.js";
