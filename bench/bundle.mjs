/** TypeScript of the repository for benches: Node 20 reads none. */
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Bundles it into build/. Returns the file's path. */
export async function bundle(name, contents) {
  const { build } = await import("esbuild");
  const { wgslForEsbuild } = await import("../scripts/wgsl.mjs");
  const outfile = `${root}build/bench-${name}.mjs`;
  await build({ stdin: { contents, resolveDir: root }, bundle: true, format: "esm", platform: "node", outfile, plugins: [wgslForEsbuild], external: ["webgpu", "koffi", "playwright-core"], logLevel: "warning" });
  return outfile;
}

/** The exports of such a file. */
export function modules(file) {
  return import(pathToFileURL(file).href);
}

/** The upper one of an even number. */
export function median(values) {
  return [...values].sort((a, b) => a - b)[values.length >> 1];
}

/** An option that must be a whole number from `least` on: anything else ends the process with code 2. */
export function wholeNumber(options, name, least = 0) {
  const value = /^\d{1,9}$/.test(options[name]) ? Number(options[name]) : -1;
  if (value >= least) return value;
  console.error(`"--${name}" expected a whole number from ${least} on, got ${JSON.stringify(options[name])}`);
  process.exit(2);
}
