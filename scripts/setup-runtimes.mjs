/** Installs the runtimes that test/runtimes/package-lock.json names (Linux x64; 700 MB): `npm run setup:runtimes`. */
import { fileURLToPath } from "node:url";
import { installPackages } from "./with-setup.mjs";

installPackages(fileURLToPath(new URL("../test/runtimes", import.meta.url)));
