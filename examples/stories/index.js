/** Bundles main.ts with esbuild and runs it: Node 20 reads no TypeScript. The bundle goes to build/, which git ignores. */
import { rename } from "node:fs/promises";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const bundle = new URL("./build/main.js", import.meta.url);
const unfinished = `${fileURLToPath(bundle)}.${process.pid}`;
await build({
  entryPoints: [fileURLToPath(new URL("./main.ts", import.meta.url))],
  outfile: unfinished,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20",
  external: ["flash-sampling"],
});
// In one step, so that two runs at once never read half a bundle.
await rename(unfinished, bundle);
await import(bundle.href);
