/** For tests that import src/ instead of the built package: the core lies in build/. */
import { usePlatform } from "../src/core-module.js";
import { filePlatform } from "../src/platform/files.js";

usePlatform(filePlatform("source tree", new URL("../build/", import.meta.url)));
