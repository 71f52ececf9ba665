/**
 * Builds the package into dist/: `node scripts/build.mjs [--force]`, or build() from another script.
 * One bundle for each runtime, the backends for GPUs, the command line, the oracle, what verifies samplers, the report, the WebAssembly cores, the kernels for CUDA where
 * build-cuda.mjs has compiled them, the types, and the licences of what the bundles contain. A stamp holds the hash of all inputs,
 * so that an unchanged tree is not built again.
 */
import { createHash } from "node:crypto";
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { freshFatbin } from "./build-cuda.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const stampFile = join(root, "build", "dist.sha256");
const INPUTS = ["src", "assembly", "gpu", "scripts", "asconfig.json", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json", "LICENSE"];
const CREATE_REQUIRE = 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';
const CORES = ["core.wasm", "core.relaxed.wasm"];

/** Builds all of dist/ unless its inputs are those of the last build. */
export async function build({ force = false, log = () => {} } = {}) {
  const fatbin = freshFatbin();
  const hash = inputHash(fatbin);
  const isFresh = existsSync(stampFile) && readFileSync(stampFile, "utf8") === hash && existsSync(join(dist, "node.js"));
  if (!force && isFresh) return;
  const { buildWasm } = await import("./build-wasm.mjs");
  await buildWasm({ force, log });
  // Everything is made beside dist/ and then takes its place: no stale file stays, and nobody sees half a build.
  const staging = join(root, "build", `dist-${process.pid}`);
  rmSync(staging, { recursive: true, force: true });
  mkdirSync(staging, { recursive: true });
  try {
    for (const module of [...CORES, "judge.wasm"]) copyFileSync(join(root, "build", module), join(staging, module));
    if (fatbin !== null) copyFileSync(fatbin, join(staging, basename(fatbin)));
    const inputs = await bundle(staging);
    writeFileSync(join(staging, "THIRD-PARTY-LICENSES.txt"), licences(inputs));
    await emitTypes(join(staging, "types"));
    rmSync(dist, { recursive: true, force: true });
    renameSync(staging, dist);
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
  writeFileSync(stampFile, hash);
  for (const name of readdirSync(dist).sort()) log(`dist/${name} ${statSync(join(dist, name)).size} bytes`);
}

function inputHash(fatbin) {
  const hash = createHash("sha256").update(process.version).update(fatbin === null ? "" : readFileSync(fatbin));
  for (const input of INPUTS.filter((name) => existsSync(join(root, name)))) {
    const files = statSync(join(root, input)).isDirectory() ? readdirSync(join(root, input), { recursive: true, encoding: "utf8" }).sort() : [""];
    for (const file of files.map((name) => join(input, name))) {
      if (statSync(join(root, file)).isFile()) hash.update(file).update("\0").update(readFileSync(join(root, file)));
    }
  }
  return hash.digest("hex");
}

/** Leaves the backends for GPUs out of a bundle: each is imported from the file beside it. */
const GPUS_ALONE = {
  name: "gpus-alone",
  setup(build) {
    build.onResolve({ filter: /gpu\/\w+\/host\.js$/ }, ({ path }) => ({ path: `./${basename(dirname(path))}.js`, external: true }));
  },
};

/** Leaves the drawing of reports out: it is imported from the file beside. On the command line by the one verb that draws. */
const REPORT_ALONE = {
  name: "report-alone",
  setup(build) {
    build.onResolve({ filter: /\/report\/report\.js$/ }, () => ({ path: "./report.js", external: true }));
  },
};

/** Makes the bundles. Returns the paths of all files that went into them. */
async function bundle(outdir) {
  const esbuild = await import("esbuild");
  const { wgslForEsbuild } = await import("./wgsl.mjs");
  const common = { plugins: [GPUS_ALONE], absWorkingDir: root, bundle: true, format: "esm", target: "es2022", outdir, metafile: true, legalComments: "none", logLevel: "warning" };
  const entries = (...names) => Object.fromEntries(names.map((name) => [name, `src/entries/${name}.ts`]));
  const results = await Promise.all([
    // Downloaded by somebody: small.
    esbuild.build({ ...common, entryPoints: entries("browser"), platform: "browser", minify: true }),
    // The worker's own bundler looks for this import: it stays as it is.
    esbuild.build({ ...common, entryPoints: entries("workerd", "edge-light"), platform: "browser", minify: true, external: ["./core.wasm", "./core.wasm?module"] }),
    // Loaded by the bundles above when a GPU is asked for, and an entry of its own.
    esbuild.build({ ...common, entryPoints: { webgpu: "gpu/webgpu/host.ts" }, platform: "neutral", minify: true, plugins: [wgslForEsbuild] }),
    // On a disk: names stay whole, for readable stack traces.
    esbuild.build({ ...common, entryPoints: { ...entries("node", "deno", "bun"), oracle: "src/oracle.ts", report: "src/verify/report/report.ts", cuda: "gpu/cuda/host.ts" }, platform: "node", external: ["webgpu", "koffi"] }),
    esbuild.build({ ...common, entryPoints: entries("verify"), platform: "node", plugins: [GPUS_ALONE, REPORT_ALONE], external: ["webgpu"] }),
    // Its argument parser is CommonJS and asks for Node's modules by require.
    esbuild.build({ ...common, entryPoints: { cli: "src/cli.ts" }, platform: "node", plugins: [GPUS_ALONE, REPORT_ALONE], external: ["webgpu"], banner: { js: CREATE_REQUIRE } }),
  ]);
  chmodSync(join(outdir, "cli.js"), 0o755);
  return new Set(results.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
}

/** The licence of each npm package that the bundles contain: packages of one text stand above it together. */
function licences(inputs) {
  const folders = new Set([...inputs].flatMap((path) => /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  const packagesByText = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const text = licenceText(folder);
    packagesByText.set(text, [...(packagesByText.get(text) ?? []), `${name} ${version} (${license})`]);
  }
  const sections = [...packagesByText].map(([text, packages]) => `${packages.join("\n")}\n${"-".repeat(72)}\n${text}\n`);
  const head = "The JavaScript files of this folder contain code of these packages.\n\n";
  return sections.length === 0 ? "The files of this folder contain no code of other packages.\n" : head + sections.join("\n\n");
}

/** A package's licence, with the notices that go with it. */
function licenceText(folder) {
  const { name, license, author } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const names = readdirSync(join(root, folder)).filter((entry) => /^(licen[cs]e|notice)/i.test(entry)).sort();
  if (names.some((entry) => /^licen[cs]e/i.test(entry))) return names.map((entry) => readFileSync(join(root, folder, entry), "utf8").trim()).join("\n\n");
  if (license !== "Apache-2.0") throw new Error(`"${name}" expected a licence file, got none for ${license}`);
  const holder = typeof author === "string" ? author : author?.name;
  return `Copyright ${holder}\n\nThe text of this licence is in the file LICENSE of this package.`;
}

/** Writes the .d.ts files that the public entries reach. */
async function emitTypes(outDir) {
  const { default: ts } = await import("typescript");
  const { config, error } = ts.readConfigFile(join(root, "tsconfig.build.json"), ts.sys.readFile);
  const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, root, { outDir });
  const program = ts.createProgram(fileNames, options);
  const { diagnostics } = program.emit();
  const problems = [error, ...errors, ...ts.getPreEmitDiagnostics(program), ...diagnostics].filter((problem) => problem !== undefined);
  if (problems.length > 0) throw new Error(ts.formatDiagnostics(problems, { getCanonicalFileName: (name) => name, getCurrentDirectory: () => root, getNewLine: () => "\n" }));
  // A sampler has Symbol.dispose, which no lib before ESNext declares; who uses the types of any entry that reaches it need not know.
  const sampler = join(outDir, "src/sampler.d.ts");
  writeFileSync(sampler, `/// <reference lib="esnext.disposable" />\n${readFileSync(sampler, "utf8")}`);
  const reached = new Set();
  for (const entry of ["src/index.d.ts", "src/oracle.d.ts", "src/verify/index.d.ts", "gpu/webgpu/host.d.ts", "gpu/cuda/host.d.ts"]) reach(join(outDir, entry), reached);
  for (const name of readdirSync(outDir, { recursive: true, encoding: "utf8" })) {
    const path = join(outDir, name);
    if (name.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
  for (const core of CORES) writeFileSync(join(outDir, `${core}.d.ts`), CORE_TYPE);
}

/** An import of a raw core, where the runtime or its bundler makes a module of it. */
const CORE_TYPE = `import type { CompiledCore } from "./src/core-module.js";

declare const core: CompiledCore;
export default core;
`;

function reach(path, reached) {
  if (reached.has(path)) return;
  reached.add(path);
  for (const [, specifier] of readFileSync(path, "utf8").matchAll(/\b(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)\.js"/g)) {
    reach(join(dirname(path), `${specifier}.d.ts`), reached);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build({ force: process.argv.includes("--force"), log: (line) => console.log(line) });
}
