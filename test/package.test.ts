/** What npm would publish: its files, sizes, types and manners. Looks at the packed tarball, not at the tree. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freshFatbin } from "../scripts/build-cuda.mjs";
import { filesBelow, packedApp, root, type PackedApp } from "./runtimes/packed.js";

const TIMEOUT = 120_000;
const execute = promisify(execFile);
const CORES = ["core.wasm", "core.relaxed.wasm"];
const ENTRIES = ["browser", "bun", "deno", "edge-light", "node", "workerd"];
const BUNDLES = [...ENTRIES, "cli", "oracle", "verify", "report", "webgpu", "cuda"];
const KERNELS = "dist/flash-sampling.fatbin";
/** Files that must work where there is no Node. */
const WEB_FILES = ["browser", "edge-light", "workerd", "webgpu"];

let app: PackedApp;
let files: string[];
let manifest: Record<string, any>;
const read = (file: string) => readFileSync(join(app.packageFolder, file));
/** The bundles whose text the pattern is in. */
const filesWith = (pattern: RegExp) => BUNDLES.filter((file) => pattern.test(read(`dist/${file}.js`).toString("utf8")));

beforeAll(async () => {
  app = await packedApp();
  files = filesBelow(app.packageFolder);
  manifest = JSON.parse(read("package.json").toString("utf8"));
}, TIMEOUT);
afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

/** Runs a program of node_modules; its output is the error when it fails. */
async function runTool(script: string, args: readonly string[], cwd: string): Promise<void> {
  await execute(process.execPath, [join(root, "node_modules", script), ...args], { cwd, env: { ...process.env, NO_COLOR: "1" } }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${script} ${args.join(" ")}\n${stdout}${stderr}`);
    },
  );
}

describe("the tarball", () => {
  it("holds exactly the files it should", () => {
    const documents = filesBelow(join(root, "docs")).filter((name) => /^[^/]+\.md$/.test(name)).map((name) => `docs/${name}`);
    const bundles = BUNDLES.map((name) => `dist/${name}.js`);
    // Only where they were compiled.
    const kernels = freshFatbin() === null ? [] : [KERNELS];
    // The examples, the independent reader of the rule among them, and its known answers go along; recordings of other engines do not.
    const examples = filesBelow(join(root, "examples")).filter((name) => !/(^|\/)((build|__pycache__|node_modules)\/|\.gitignore$)/.test(name)).map((name) => `examples/${name}`);
    const vectors = filesBelow(join(root, "test/vectors")).filter((name) => !name.includes("/")).map((name) => `test/vectors/${name}`);
    const texts = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "package.json"];
    const expected = [...texts, "dist/THIRD-PARTY-LICENSES.txt", "dist/judge.wasm", ...CORES.map((name) => `dist/${name}`), ...kernels, ...bundles, ...documents, ...examples, ...vectors];
    expect(files.filter((name) => !name.startsWith("dist/types/"))).toEqual(expected.sort());
    const types = files.filter((name) => name.startsWith("dist/types/"));
    expect(types).toEqual(expect.arrayContaining(["dist/types/src/index.d.ts", "dist/types/src/oracle.d.ts", "dist/types/src/verify/index.d.ts", "dist/types/gpu/webgpu/host.d.ts", "dist/types/gpu/cuda/host.d.ts"]));
    expect(types.filter((name) => !name.endsWith(".d.ts"))).toEqual([]);
  });

  it("names no place of the machine that built it", () => {
    const places = [root, homedir(), tmpdir(), "sourceMappingURL", "file:///"];
    for (const file of files) {
      const text = read(file).toString("latin1");
      expect(places.filter((place) => place.length > 1 && text.includes(place)), file).toEqual([]);
      expect(/(?<![\w.:/])\/(?:home|root|Users|tmp|work|build|mnt)\//.exec(text)?.[0], file).toBeUndefined();
    }
  });

  it("stays within its sizes", () => {
    for (const core of CORES) expect(read(`dist/${core}`).length, core).toBeLessThanOrEqual(24 * 1024);
    const gzipped = (file: string) => gzipSync(read(`dist/${file}`)).length;
    const download = gzipped("browser.js") + gzipped("core.wasm");
    const webgpu = gzipped("webgpu.js"); // only where a GPU is asked for
    const kernels = files.includes(KERNELS) ? read(KERNELS).length : 0; // compressed as they are
    console.log(`gzipped: browser.js and core.wasm ${download} bytes, webgpu.js ${webgpu} bytes; kernels for CUDA: ${kernels} bytes; tarball: ${statSync(app.tarball).size} bytes`);
    expect(download).toBeLessThanOrEqual(40 * 1024);
    expect(webgpu).toBeLessThanOrEqual(32 * 1024);
    expect(kernels).toBeLessThanOrEqual(1024 * 1024);
  });

  it("has cores that are not the same file twice", () => {
    expect(read("dist/core.wasm").equals(read("dist/core.relaxed.wasm"))).toBe(false);
  });

  it("asks for no Node module where there is no Node", () => {
    for (const entry of WEB_FILES) {
      const text = read(`dist/${entry}.js`).toString("utf8");
      expect(/\b(?:from|import)\s*\(?\s*["'`]node:[^"'`]*/.exec(text)?.[0], entry).toBeUndefined();
      expect(/\brequire\s*\(/.exec(text)?.[0], entry).toBeUndefined();
    }
  });

  it("holds the code for each kind of GPU once, and asks for it where it may be", () => {
    expect(filesWith(/@compute/)).toEqual(["webgpu"]);
    expect(filesWith(/\bimport\(\s*"webgpu"\s*\)/)).toEqual(["node", "cli", "verify"]);
    expect(filesWith(/\bcuInit\b/)).toEqual(["cuda"]);
    expect(filesWith(/["'`]koffi["'`]/)).toEqual(["cuda"]);
    expect(filesWith(/\.\/cuda\.js/)).toEqual(["node", "cli", "verify"]);
  });

  it("holds what draws reports once", () => {
    expect(filesWith(/prefers-color-scheme/)).toEqual(["report"]);
    expect(filesWith(/"\.\/report\.js"/)).toEqual(["cli", "verify"]);
  });

  it("names the licence of all that is bundled", () => {
    const text = read("dist/THIRD-PARTY-LICENSES.txt").toString("utf8");
    for (const name of ["@assemblyscript/loader", "commander", "d3-scale", "@stdlib/math-base-special-gammainc"]) expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\(.+\\)$`, "m"));
  });
});

describe("package.json", () => {
  it("asks for nothing at run time, and runs nothing when installed", () => {
    for (const key of ["dependencies", "optionalDependencies", "bundleDependencies"]) expect(manifest[key], key).toBeUndefined();
    for (const peer of Object.keys(manifest["peerDependencies"])) expect(manifest["peerDependenciesMeta"][peer], peer).toEqual({ optional: true });
    for (const script of ["preinstall", "install", "postinstall", "prepare"]) expect(manifest["scripts"][script], script).toBeUndefined();
  });

  it("pins every tool exactly", () => {
    for (const [name, version] of Object.entries(manifest["devDependencies"])) expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
  });

  it("lists the conditions from the narrowest to the widest, types first in each", () => {
    const conditions = manifest["exports"]["."];
    expect(Object.keys(conditions)).toEqual(["workerd", "edge-light", "deno", "bun", "node", "browser", "default"]);
    for (const condition of Object.values<Record<string, string>>(conditions)) expect(Object.keys(condition)).toEqual(["types", "default"]);
  });

  it("points to files that exist", () => {
    const targets = (value: unknown): string[] => (typeof value === "string" ? [value] : Object.values(value as object).flatMap(targets));
    const named = [...targets(manifest["exports"]), ...targets(manifest["bin"]), ...manifest["sideEffects"]].map((target: string) => target.replace(/^\.\//, ""));
    expect(named.filter((target) => !files.includes(target))).toEqual([]);
  });

  it("satisfies publint", async () => {
    const { messages } = await publint({ pkgDir: app.packageFolder, pack: false, strict: true });
    expect(messages).toEqual([]);
  });

  it("satisfies attw", { timeout: TIMEOUT }, async () => {
    await runTool("@arethetypeswrong/cli/dist/index.js", [app.tarball, "--profile", "esm-only", "--exclude-entrypoints", ...CORES], app.folder);
  });
});

const CONSUMER = `
import { createSampler, init, sampleLogits, BACKENDS, type SampleResult } from "flash-sampling";
import { gamma26, philox4x32 } from "flash-sampling/oracle";
export async function main(weights: Uint16Array, hiddenStates: Float32Array): Promise<Int32Array> {
  await init({ bytes: new Uint8Array(8) });
  const words: readonly number[] = philox4x32([0, 0, 0, 0], [0, 0]);
  using sampler = await createSampler({ weights: { data: weights, dtype: "bf16", shape: [4, 8] }, backend: BACKENDS[0]!.name });
  const result: SampleResult = await sampler.sample({ hiddenStates, seed: 42n, temperature: gamma26(words[0]!, words[1]!) });
  // @ts-expect-error: a name that is not there
  await sampleLogits({ logit: hiddenStates });
  return result.tokens;
}
`;

/** Options may be said to be undefined, as CheckOptions has it. */
const VERIFIER = `
import { check, findInvariances, goodnessOfFit, ownSampler, replay, SequentialGoodnessOfFit, type CheckDocument, type ReplayInputs } from "flash-sampling/verify";
export const checked = (logits: Float32Array): Promise<CheckDocument> => check({ logits, tokens: [0], seed: 1n, temperature: undefined, numSamples: undefined, signal: undefined });
export const found = findInvariances(ownSampler(), { name: undefined, only: undefined, maxCalls: undefined, signal: undefined, onProgress: undefined });
export const fit = goodnessOfFit({ logits: Float32Array.of(0), tokens: [0], shape: undefined, vocabSize: undefined, temperature: undefined, alpha: undefined, axes: undefined, shards: undefined });
export const stream = new SequentialGoodnessOfFit({ logits: Float32Array.of(0), alpha: undefined }).add({ tokens: [0], shape: undefined });
const inputs: ReplayInputs = { weights: "w.npy", hiddenStates: Float32Array.of(0), tensor: undefined, signal: undefined, onProgress: undefined };
export const again = replay({}, inputs, "auto");
// @ts-expect-error: a name that is not there
export const misnamed = findInvariances(ownSampler(), { max: 3 });
`;

const CUDA_CONSUMER = `
import * as cuda from "flash-sampling/cuda";
export const names: readonly string[] = Object.keys(cuda);
`;

/** Who imports the WebGPU backend needs the types of WebGPU, from @webgpu/types or from a later TypeScript. */
const WEBGPU_CONSUMER = `
import { GpuError, webgpuObstacle, type GpuErrorKind } from "flash-sampling/webgpu";
export const kindOf = (error: unknown): GpuErrorKind | null => (error instanceof GpuError ? error.kind : null);
export const ask = (gpu: GPU): Promise<string | null> => webgpuObstacle(gpu);
// @ts-expect-error: that is no GPU
webgpuObstacle(42);
`;

describe("the types resolve, with all their own files checked, for", () => {
  const bundler = { module: "ESNext", moduleResolution: "bundler", lib: ["ES2022", "DOM"] };
  // Alone: what one entry declares for itself must not hide what another one lacks.
  const alone = Object.entries({ "flash-sampling": CONSUMER, verify: VERIFIER, cuda: CUDA_CONSUMER });
  it.each([
    { name: "Node", source: CONSUMER, options: { module: "NodeNext", moduleResolution: "NodeNext", lib: ["ES2022"], types: ["node"], typeRoots: [join(root, "node_modules/@types")] } },
    { name: "a bundler", source: CONSUMER + VERIFIER + CUDA_CONSUMER, options: { ...bundler, types: [] } },
    ...alone.map(([entry, source]) => ({ name: `a bundler, ${entry} alone`, source, options: { ...bundler, types: [] } })),
    { name: "a bundler with WebGPU", source: CONSUMER + WEBGPU_CONSUMER, options: { ...bundler, types: ["@webgpu/types"], typeRoots: [join(root, "node_modules")] } },
  ])("$name", { timeout: TIMEOUT }, async ({ name, source, options }) => {
    const folder = join(app.folder, `types for ${name}`);
    mkdirSync(folder);
    writeFileSync(join(folder, "main.ts"), source);
    const compilerOptions = { ...options, target: "ES2022", strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false, skipDefaultLibCheck: true };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
    await runTool("typescript/bin/tsc", ["-p", "."], folder);
  });
});

it("the command line starts from the tarball", async () => {
  const { stdout } = await execute(process.execPath, [join(app.packageFolder, manifest["bin"]["flash-sampling"]), "--version"], { cwd: app.folder });
  expect(stdout.trim()).toBe(manifest["version"]);
});

it("kernels for CUDA cannot be compiled without nvcc: an error says so", async () => {
  const compiling = execute(process.execPath, ["scripts/build-cuda.mjs", "--force"], { cwd: root, env: { PATH: "" } });
  await expect(compiling).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('"nvcc" of CUDA 13 or newer expected on the path, got none') });
});

it("the tree type-checks", { timeout: TIMEOUT }, async () => {
  await runTool("typescript/bin/tsc", ["-p", "."], root);
});
