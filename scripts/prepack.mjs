/**
 * What `npm pack` and `npm publish` run first: the kernels for CUDA, then dist/. Where the kernels cannot be compiled it fails, unless
 * FLASH_SAMPLING_NO_CUDA=1 says that the package may go without.
 */
import { build } from "./build.mjs";
import { buildCuda } from "./build-cuda.mjs";

// stdout belongs to npm.
const log = (line) => console.error(line);
const mayLackKernels = process.env["FLASH_SAMPLING_NO_CUDA"] === "1";

try {
  if (!mayLackKernels) await buildCuda({ log });
  await build({ log });
} catch (error) {
  const hint = mayLackKernels ? "" : " (FLASH_SAMPLING_NO_CUDA=1 packs without kernels for CUDA)";
  console.error(`${error.message}${hint}`);
  process.exitCode = 1;
}
