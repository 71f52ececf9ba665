/** `flash-sampling doctor`: which backends run here, whether they are right, and how fast they are. */
import type { Command } from "commander";
import { BACKENDS, type BackendEntry, type BackendName } from "../backends/list.js";
import type { DeviceReport } from "../backend.js";
import { createSampler } from "../sampler.js";
import { SPEC_VERSION } from "../spec/constants.js";
import { VERSION } from "../version.js";
import { EXIT_WRONG } from "./exit.js";
import { readChoice } from "./options.js";
import { selfTest } from "./self-test.js";
import { syntheticHead, syntheticHiddenStates } from "./synthetic-head.js";
import { formatTable } from "./table.js";
import { fastest } from "./timing.js";

interface Diagnosis {
  readonly name: BackendName;
  readonly available: boolean;
  /** Why it does not run here. */
  readonly reason: string | null;
  readonly required: boolean;
  readonly selfTest: "passed" | "failed" | "not run";
  readonly failures: readonly string[];
  /** Weights read, 10^9 bytes a second, when one row is sampled; null where that was not measured */
  readonly gigabytesPerSecond: number | null;
  readonly tokensPerSecond: number | null;
  /** null where the backend runs on no device of its own */
  readonly device: DeviceReport | null;
}

/** 34 MB: past most caches, and still a moment for the slowest backend. */
const SPEED_SHAPE = { vocabSize: 8192, hiddenSize: 2048 } as const;
const SPEED_MILLISECONDS = 300;

const EXAMPLES = `
Exit code 1 when a backend of --require does not run here, or when any backend
that runs gives a wrong answer.

Examples:
  $ flash-sampling doctor
  $ flash-sampling doctor --require wasm,reference --json`;

export function addDoctor(program: Command): void {
  program
    .command("doctor")
    .description("check each backend: does it run here, are its answers right, how fast is it")
    .option("--require <list>", `backends that must run: ${BACKENDS.map((entry) => entry.name).join(",")}`, readRequired)
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((options: { require?: BackendName[]; json?: boolean }) => doctor(options.require ?? [], options.json ?? false));
}

function readRequired(text: string): BackendName[] {
  return text.split(",").map((name) => readChoice("--require", name.trim(), BACKENDS.map((entry) => entry.name)));
}

async function doctor(required: readonly BackendName[], json: boolean): Promise<void> {
  const backends: Diagnosis[] = [];
  for (const entry of BACKENDS) backends.push(await diagnose(entry, required.includes(entry.name)));
  const ok = backends.every(({ available, required, selfTest }) => selfTest !== "failed" && (available || !required));
  if (!ok) process.exitCode = EXIT_WRONG;
  const machine = { node: process.versions.node, platform: process.platform, arch: process.arch };
  process.stdout.write(json ? `${JSON.stringify({ specVersion: SPEC_VERSION, version: VERSION, ...machine, ok, speedShape: SPEED_SHAPE, backends })}\n` : toText(machine, backends));
}

async function diagnose(entry: BackendEntry, required: boolean): Promise<Diagnosis> {
  const { name } = entry;
  const reason = await entry.probe();
  const notRun = { name, required, selfTest: "not run", failures: [], gigabytesPerSecond: null, tokensPerSecond: null, device: null } as const;
  if (reason !== null) return { ...notRun, available: false, reason };
  const diagnosis = await examine(name, notRun);
  return entry.report === undefined ? diagnosis : { ...diagnosis, device: await entry.report() };
}

async function examine(name: BackendName, notRun: Omit<Diagnosis, "available" | "reason">): Promise<Diagnosis> {
  try {
    const failures = await selfTest(name);
    const tested = { ...notRun, available: true, reason: null, failures, selfTest: failures.length === 0 ? "passed" : "failed" } as const;
    return failures.length > 0 ? tested : { ...tested, ...(await measureSpeed(name)) };
  } catch (error) {
    return { ...notRun, available: true, reason: null, selfTest: "failed", failures: [(error as Error).message] };
  }
}

async function measureSpeed(name: BackendName): Promise<Pick<Diagnosis, "gigabytesPerSecond" | "tokensPerSecond">> {
  const { vocabSize, hiddenSize } = SPEED_SHAPE;
  const sampler = await createSampler({ weights: syntheticHead(vocabSize, hiddenSize), backend: name });
  try {
    const hiddenStates = syntheticHiddenStates(1, hiddenSize);
    const milliseconds = await fastest(SPEED_MILLISECONDS, () => sampler.sample({ hiddenStates, seed: 0 }));
    return { gigabytesPerSecond: (vocabSize * hiddenSize * 2) / milliseconds / 1e6, tokensPerSecond: 1000 / milliseconds };
  } finally {
    sampler.dispose();
  }
}

function toText(machine: { node: string; platform: string; arch: string }, backends: readonly Diagnosis[]): string {
  const lines = backends.map(({ name, available, required, selfTest, gigabytesPerSecond, tokensPerSecond }) => [
    name,
    available ? "runs here" : required ? "MISSING" : "not here",
    selfTest === "failed" ? "FAILED" : selfTest,
    gigabytesPerSecond?.toFixed(2) ?? "-",
    tokensPerSecond?.toFixed(1) ?? "-",
  ]);
  const notes = backends.flatMap(({ name, reason, failures, device }) => {
    const lines = [...(reason === null ? [] : [reason]), ...(device === null ? [] : aboutDevice(device)), ...failures];
    return lines.map((note) => `${name}: ${note}`);
  });
  return [
    `flash-sampling ${VERSION}, rule ${SPEC_VERSION}, Node ${machine.node}, ${machine.platform} ${machine.arch}`,
    "",
    formatTable([["backend", "available", "self-test", "GB/s", "tokens/s"], ...lines], ["left", "left", "left"]),
    "",
    ...notes,
    "Self-test: heads of each dtype, with known answers.",
    `Speed: one row, V = ${SPEED_SHAPE.vocabSize}, D = ${SPEED_SHAPE.hiddenSize}, bf16.`,
    "",
  ].join("\n");
}

function aboutDevice({ adapter, rungs }: DeviceReport): string[] {
  const kernels = Object.entries(rungs);
  const lines = [...new Set(Object.values(rungs))].map((rung) => `sums in order by ${rung}: ${kernels.filter(([, found]) => found === rung).map(([name]) => name).join(", ")}`);
  return [`on ${adapter}`, ...lines];
}
