/**
 * What every runtime does with the packed package: the known answers through createSampler and sampleLogits, on every
 * backend that runs there. Web APIs only; nothing of this repository but the answers themselves.
 */
import { BACKENDS, type HeadArray, createSampler, sampleLogits, type BackendName, type SampleResult } from "flash-sampling";
import { gamma26 } from "flash-sampling/oracle";
import gammaVectors from "../vectors/gamma26.json" with { type: "json" };
import logitsVectors from "../vectors/logits.json" with { type: "json" };
import sampleVectors from "../vectors/sample.json" with { type: "json" };

export interface BackendReport {
  readonly name: BackendName;
  /** why it does not run here, or null */
  readonly obstacle: string | null;
  /** known draws that were compared */
  readonly draws: number;
  readonly differences: readonly string[];
}

export interface Report {
  readonly backends: readonly BackendReport[];
  /** the file that "flash-sampling" stands for, where the runtime can tell */
  readonly entry: string | null;
  /** gamma26 of the oracle entry, compared */
  readonly oracleDifferences: readonly string[];
}

interface Call {
  readonly T: string;
  readonly samples: number;
  readonly firstSample: string;
}
interface Address {
  readonly seed: string;
  readonly sequence: string;
  readonly position: string;
  readonly draws: readonly object[];
}

const words = (text: string) => text.split(" ").map((word) => parseInt(word, 16));
const f32Values = (rows: readonly string[]) => new Float32Array(Uint32Array.from(rows.flatMap(words)).buffer);
const f64Value = (bits: string) => new Float64Array(BigUint64Array.of(BigInt(`0x${bits}`)).buffer)[0]!;

export interface Questions {
  /** Default: all that run. */
  readonly backends?: readonly BackendName[];
  /** One head of each of these dtypes in place of all heads, where kernels take long to compile. */
  readonly dtypes?: readonly string[];
}

export async function report({ backends: asked, dtypes }: Questions = {}): Promise<Report> {
  const backends: BackendReport[] = [];
  const problems = sampleVectors.problems.filter(({ dtype }, index, all) => dtypes === undefined || (dtypes.includes(dtype) && index === all.findLastIndex((other) => other.dtype === dtype)));
  for (const { name, probe } of BACKENDS.filter((entry) => asked?.includes(entry.name) ?? true)) {
    const obstacle = await probe();
    const found = new Comparison();
    if (obstacle === null) {
      for (const problem of problems) await compareProblem(name, problem, found);
      for (const given of logitsVectors.cases) await compareLogits(name, given, found);
    }
    backends.push({ name, obstacle, draws: found.draws, differences: found.differences });
  }
  const [hi, lo] = [words(gammaVectors.hi), words(gammaVectors.lo)];
  const oracleDifferences = words(gammaVectors.gamma).flatMap((gamma, index) => {
    const got = gamma26(hi[index]!, lo[index]!);
    return got === gamma ? [] : [`gamma26(${hi[index]}, ${lo[index]}): expected ${gamma}, got ${got}`];
  });
  return { backends, entry: entryUrl(), oracleDifferences };
}

function entryUrl(): string | null {
  try {
    return import.meta.resolve("flash-sampling");
  } catch {
    return null; // bundled in, or no such function
  }
}

/** A draw as one line. Known answers say null where the package says -1, and leave out what a row without a token lacks. */
function drawLine(draw: Readonly<Record<string, unknown>>): string {
  const status = draw["outcome"] ?? draw["status"] ?? "ok";
  if (status !== "ok") return String(status);
  const runnerUp = draw["runnerUp"] ?? -1;
  const scoreBits = typeof draw["scoreBits"] === "bigint" ? BigInt.asUintN(64, draw["scoreBits"]).toString(16).padStart(16, "0") : draw["scoreBits"];
  const value = (known: unknown) => (typeof known === "string" ? f64Value(known) : known);
  return `token ${draw["token"]} score ${scoreBits} = ${value(draw["score"])}, runner-up ${runnerUp} by ${value(draw["margin"])}`;
}

class Comparison {
  draws = 0;
  readonly differences: string[] = [];

  /** Each row's draws from the known call's first sample on. */
  call(name: string, known: Call, rows: readonly Address[], { details, tokens }: SampleResult): void {
    const first = parseInt(known.firstSample, 16);
    const perRow = first + known.samples;
    rows.forEach(({ draws }, row) =>
      draws.forEach((draw, index) => {
        const at = row * perRow + first + index;
        const [expected, got] = [drawLine(draw as never), drawLine(details![at] as never)];
        this.draws++;
        if (expected !== got || details![at]!.token !== tokens[at]) this.differences.push(`${name}: expected ${expected}, got ${got}`);
      }),
    );
  }
}

/** The options that draw a known call, or null for one that starts too late: numSamples always counts from 0. */
function drawOptions(call: Call, rows: readonly Address[]) {
  const first = parseInt(call.firstSample, 16);
  if (first > 5) return null;
  return {
    temperature: f64Value(call.T),
    seed: BigUint64Array.from(rows, ({ seed }) => BigInt(`0x${seed}`)),
    sequence: rows.map(({ sequence }) => parseInt(sequence, 16)),
    position: rows.map(({ position }) => parseInt(position, 16)),
    numSamples: first + call.samples,
    details: true,
    onInvalid: "mark",
  } as const;
}

async function compareProblem(backend: BackendName, problem: (typeof sampleVectors.problems)[number], found: Comparison): Promise<void> {
  const { dtype, V, D, weights, scales, hidden, calls } = problem;
  const stored = weights.flatMap(words);
  const data = dtype === "f32" ? f32Values(weights) : dtype === "int8" ? Int8Array.from(stored) : Uint16Array.from(stored);
  const head = { data, dtype, shape: [V, D], ...(scales && { scales: f32Values(scales) }) } as HeadArray;
  const sampler = await createSampler({ weights: head, backend });
  try {
    for (const call of calls) {
      const options = drawOptions(call, call.rows);
      if (options !== null) found.call(`${problem.name} T=${options.temperature}`, call, call.rows, await sampler.sample({ hiddenStates: f32Values(hidden), ...options }));
    }
  } finally {
    sampler.dispose();
  }
}

async function compareLogits(backend: BackendName, { name, logits, calls }: (typeof logitsVectors.cases)[number], found: Comparison): Promise<void> {
  for (const call of calls) {
    const options = drawOptions(call, [call]);
    if (options !== null) found.call(`logits ${name} T=${options.temperature}`, call, [call], await sampleLogits({ logits: f32Values([logits]), backend, ...options }));
  }
}
