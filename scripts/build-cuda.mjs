/**
 * Compiles gpu/cuda into build/flash-sampling.fatbin: `node scripts/build-cuda.mjs [--force]`, or buildCuda() from another script.
 * Needs nvcc 13. Machine code for compute capability 8.0 and 9.0, and PTX from which drivers make the rest.
 * A stamp holds the hash of all sources, so that an unchanged tree is not built again.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const sources = join(root, "gpu", "cuda");
const output = join(root, "build", "flash-sampling.fatbin");
const stampFile = join(root, "build", "cuda.sha256");

/** Every product, sum and subnormal as written: bits depend on it. */
const ARITHMETIC = ["--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true"];
const TARGETS = ["arch=compute_80,code=sm_80", "arch=compute_90a,code=sm_90a", "arch=compute_80,code=compute_80"];

/** Where the kernels get the rule's constants from. */
const CONSTANTS = ["src/spec/constants.ts", "src/spec/request.ts"];

/** Writes the rule's constants as C++ into build/cuda/constants.cuh and returns that folder. */
export async function writeConstants() {
  const { build } = await import("esbuild");
  const folder = join(root, "build", "cuda");
  mkdirSync(folder, { recursive: true });
  const bundle = join(folder, "constants.mjs");
  const contents = CONSTANTS.map((file) => `export * from "./${file}";`).join("\n");
  await build({ stdin: { contents, resolveDir: root }, bundle: true, format: "esm", platform: "node", outfile: bundle, logLevel: "warning" });
  const constants = await import(pathToFileURL(bundle).href);
  const lines = Object.entries(constants).filter(([, value]) => Number.isInteger(value) && value >= 0 && value < 2 ** 32).map(([name, value]) => `constexpr uint32_t ${name} = ${value}u;`);
  writeFileSync(join(folder, "constants.cuh"), `#pragma once\n#include <cstdint>\n${lines.join("\n")}\n`);
  return folder;
}

/** Compiles the kernels unless their sources are those of the last time. Returns the fatbin's path. */
export async function buildCuda({ force = false, log = () => {} } = {}) {
  if (!force && freshFatbin() !== null) return output;
  checkCompiler();
  const hash = sourceHash(); // before: sources that change meanwhile are compiled again
  const folder = await writeConstants();
  const kernels = sourceFiles().filter((name) => name.endsWith(".cu")).map((name) => join(sources, name));
  const targets = TARGETS.flatMap((target) => ["-gencode", target]);
  // stdout may belong to whoever started this.
  execFileSync("nvcc", ["--fatbin", "-O3", "-std=c++17", "--compress-mode=size", ...ARITHMETIC, ...targets, "-I", folder, "-o", output, ...kernels], { stdio: ["ignore", 2, 2] });
  appendFileSync(output, createHash("sha256").update(readFileSync(output)).digest()); // gpu/cuda/fatbin.ts asks for it
  writeFileSync(stampFile, hash);
  log(`flash-sampling.fatbin ${statSync(output).size} bytes`);
  return output;
}

function checkCompiler() {
  const { error, stdout } = spawnSync("nvcc", ["--version"], { encoding: "utf8" });
  const release = /release (\d+)/.exec(stdout ?? "")?.[1] ?? "unknown";
  if (error || !(release >= 13)) throw new Error(`"nvcc" of CUDA 13 or newer expected on the path, got ${error ? "none" : `release ${release}`}`);
}

/** The path of the compiled kernels, or null where they are missing or made of other sources. */
export function freshFatbin() {
  const isFresh = existsSync(output) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === sourceHash();
  return isFresh ? output : null;
}

function sourceFiles() {
  return readdirSync(sources).filter((name) => /\.cuh?$/.test(name)).sort();
}

function sourceHash() {
  const hash = createHash("sha256");
  const files = ["scripts/build-cuda.mjs", ...CONSTANTS, ...sourceFiles().map((name) => `gpu/cuda/${name}`)];
  for (const file of files) hash.update(file).update(readFileSync(join(root, file)));
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildCuda({ force: process.argv.includes("--force"), log: (line) => console.log(line) });
}
