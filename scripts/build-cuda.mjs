/**
 * Compiles gpu/cuda into build/flash-sampling.fatbin: `node scripts/build-cuda.mjs`, or buildCuda() from another script. Needs nvcc.
 * Machine code for compute capability 8.0 and 9.0, and PTX from which drivers make the rest.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "gpu", "cuda");

/** Every product, sum and subnormal as written: bits depend on it. */
const ARITHMETIC = ["--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"];
const TARGETS = ["arch=compute_80,code=sm_80", "arch=compute_90a,code=sm_90a", "arch=compute_80,code=compute_80"];

/** Writes the rule's constants as C++ into build/cuda/constants.cuh and returns that folder. */
export async function writeConstants() {
  const { build } = await import("esbuild");
  const folder = join(root, "build", "cuda");
  mkdirSync(folder, { recursive: true });
  const bundle = join(folder, "constants.mjs");
  const contents = 'export * as rule from "./src/spec/constants.ts"; export * as request from "./src/spec/request.ts";';
  await build({ stdin: { contents, resolveDir: root }, bundle: true, format: "esm", platform: "node", outfile: bundle, logLevel: "warning" });
  const { rule, request } = await import(pathToFileURL(bundle).href);
  const lines = Object.entries({ ...rule, ...request }).filter(([, value]) => Number.isInteger(value) && value >= 0 && value < 2 ** 32).map(([name, value]) => `constexpr uint32_t ${name} = ${value}u;`);
  writeFileSync(join(folder, "constants.cuh"), `#pragma once\n#include <cstdint>\n${lines.join("\n")}\n`);
  return folder;
}

/** @returns the fatbin's path */
export async function buildCuda({ log = () => {} } = {}) {
  const folder = await writeConstants();
  const output = join(root, "build", "flash-sampling.fatbin");
  const kernels = readdirSync(sources).filter((name) => name.endsWith(".cu")).map((name) => join(sources, name));
  const targets = TARGETS.flatMap((target) => ["-gencode", target]);
  const text = execFileSync("nvcc", ["--fatbin", "-O3", "-std=c++17", "--compress-mode=size", ...ARITHMETIC, ...targets, "-Xptxas=-v", "-I", folder, "-o", output, ...kernels], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  log(text);
  return output;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const output = await buildCuda();
  console.log(`${output} ${readFileSync(output).length} bytes`);
}
