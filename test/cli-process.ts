/** The command line as its users start it: a process of its own. What the cli tests share. */
import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll } from "vitest";
import { wgslForEsbuild } from "../scripts/wgsl.mjs";
import { safetensors, bytesOf, npy, npyDict, pseudoRandom } from "./head-fixtures.js";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: Uint8Array;
  /** Whoever writes to stdin never stops: the program must not wait for an end. */
  readonly isStdinEndless?: boolean;
  /** Another cli.js than the built one. */
  readonly program?: string;
  /** Of the environment, beside those of this process. */
  readonly variables?: Readonly<Record<string, string>>;
  /** A program and arguments that start this one: sh with limits, or with other places for what is printed. */
  readonly wrapper?: readonly string[];
  /** Called once, with the process, when it has started. */
  readonly onStart?: (child: ReturnType<typeof spawn>) => void;
}

type CommandLines = readonly (readonly string[])[];

const root = fileURLToPath(new URL("..", import.meta.url));
const MANY = fileURLToPath(new URL("cli-many.mjs", import.meta.url));

/** V, D and B of the files that writeInputs makes. */
export const V = 50;
export const D = 40;
export const B = 3;

/** A folder of its own for a test file, and the command line to run in it. */
export function useCli() {
  const folder = mkdtempSync(join(tmpdir(), "flash-sampling-cli-"));
  let program = "";
  beforeAll(async () => {
    program = await builtCli(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (args: readonly string[], options: RunOptions = {}) => start([options.program ?? program, ...args], folder, options);
  /**
   * Runs command lines in one process, all of them once the first is asked for: see cli-many.mjs. lists: made then.
   * @returns how the one of this index ended
   */
  const runMany = (lists: () => CommandLines | Promise<CommandLines>, options: RunOptions = {}) => {
    let all: Promise<readonly Ended[]> | undefined;
    const startAll = async () => {
      const { code, stdout, stderr } = await start([MANY, program, JSON.stringify(await lists())], folder, options);
      if (code !== 0) throw new Error(`cli-many.mjs ended with ${code}: ${stderr}`);
      return JSON.parse(stdout) as readonly Ended[];
    };
    return async (index: number): Promise<Ended> => (await (all ??= startAll()))[index]!;
  };
  return { folder, run, runMany, program: () => program };
}

/** dist/cli.js, or the source bundled as the build does it. */
async function builtCli(folder: string): Promise<string> {
  const built = join(root, "dist", "cli.js");
  if (existsSync(built)) return built;
  const dist = join(folder, "package", "dist");
  mkdirSync(dist, { recursive: true });
  await build({
    entryPoints: [join(root, "src", "cli.ts")],
    outfile: join(dist, "cli.js"),
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    external: ["webgpu", "koffi"],
    plugins: [wgslForEsbuild],
    logLevel: "error",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
  for (const core of ["core.wasm", "core.relaxed.wasm"]) copyFileSync(join(root, "build", core), join(dist, core));
  copyFileSync(join(root, "package.json"), join(folder, "package", "package.json"));
  return join(dist, "cli.js");
}

function start(args: readonly string[], cwd: string, { stdin, isStdinEndless, variables, wrapper = [], onStart }: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const [command, ...rest] = [...wrapper, process.execPath, ...process.execArgv, ...args] as [string, ...string[]];
    const child = spawn(command, rest, { cwd, env: { ...process.env, ...variables } });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    // A program that refuses its arguments does not wait for its input.
    child.stdin.on("error", () => {});
    if (isStdinEndless) child.stdin.write(stdin);
    else child.stdin.end(stdin);
    onStart?.(child);
  });
}

/** What the input files hold, for the API to sample as well. */
export interface Inputs {
  readonly weights: Uint16Array;
  readonly hiddenStates: Float32Array;
  readonly logits: Float32Array;
}

/** Writes head.safetensors (bf16), hidden.npy, logits.npy and their bad relatives into folder. */
export function writeInputs(folder: string): Inputs {
  const weights = Uint16Array.from(new Uint32Array(Float32Array.from(pseudoRandom(1, V * D)).buffer), (bits) => bits >>> 16);
  const hiddenStates = Float32Array.from(pseudoRandom(2, B * D), (value) => 2 * value);
  const logits = Float32Array.from(pseudoRandom(3, B * V), (value) => 4 * value);
  const withNaN = hiddenStates.slice();
  withNaN[D + 3] = NaN;
  const masked = logits.slice().fill(-Infinity, V, 2 * V);
  masked[2 * V] = NaN;
  const int8 = Int8Array.from(pseudoRandom(4, V * D), (value) => 127 * value);
  const scales = new Float32Array(V).fill(0.01);
  const head = { dtype: "BF16", shape: [V, D], bytes: bytesOf(weights) };
  const array = (descr: string, shape: string, data: ArrayBufferView) => npy(npyDict(descr, shape), bytesOf(data));
  const files: Record<string, Uint8Array> = {
    "head.safetensors": safetensors({ "lm_head.weight": head, "norm.weight": { dtype: "BF16", shape: [D], bytes: new Uint8Array(2 * D) } }),
    "int8.safetensors": safetensors({ w: { dtype: "I8", shape: [V, D], bytes: bytesOf(int8) }, s: { dtype: "F32", shape: [V], bytes: bytesOf(scales) } }),
    "scales.npy": array("<f4", `(${V},)`, scales),
    "hidden.npy": array("<f4", `(${B}, ${D})`, hiddenStates),
    "one-row.npy": array("<f4", `(${D},)`, hiddenStates.subarray(0, D)),
    "logits.npy": array("<f4", `(${B}, ${V})`, logits),
    "nan.npy": array("<f4", `(${B}, ${D})`, withNaN),
    "masked.npy": array("<f4", `(${B}, ${V})`, masked),
    "integers.npy": array("<i4", `(${B}, ${D})`, new Int32Array(B * D)),
    "wide.npy": array("<f4", `(${B}, ${2 * D})`, new Float32Array(2 * B * D)),
    "cube.npy": array("<f4", `(1, ${B}, ${D})`, hiddenStates),
    "lying.npy": npy(npyDict("<f4", `(${B}, ${D})`), new Uint8Array(7)),
    "model.gguf": new TextEncoder().encode(`GGUF${"\0".repeat(60)}`),
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return { weights, hiddenStates, logits };
}
