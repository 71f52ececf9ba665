/** Experiments whose tokens the goodness-of-fit tests judge, each made to show some faults. */
import type { SamplerCall } from "../../src/verify/sampler-under-test.js";
import {
  checkInput,
  EQUAL_KEPT,
  EQUAL_LOGITS,
  NUCLEUS,
  NUCLEUS_OF_HUNDREDS,
  NUCLEUS_OF_THREE,
  nucleusInput,
  type CheckInput,
  type Input,
} from "./check-inputs.js";
import { EXPERIMENT_SEED, rowsOf, samplesOf, type Experiment } from "./experiment.js";
import { joined, normalLogits, onlyTokens } from "./logits.js";

/** Samples of the rows of one call that has masks or filters. */
function samplesOfInput({ call, judged }: Input): Experiment {
  const [temperature] = call.temperature;
  const isOneRow = call.rows === 1;
  return {
    vocabSize: call.vocabSize,
    judged,
    temperature: temperature!,
    axes: isOneRow ? ["sample"] : ["row", "sample"],
    shape: (draws) => (isOneRow ? [draws] : [call.rows, Math.ceil(draws / call.rows)]),
    calls: (shape) => [{ ...call, numSamples: shape.at(-1)! }],
  };
}

const SAMPLES_OF_A_BYTE = 256;

/** Neighbours on the first axis are samples of one row that lie 256 apart. */
function samplesInBytes(logits: Float32Array): Experiment {
  const { calls, ...others } = samplesOf(logits);
  return {
    ...others,
    axes: ["block", "sample"],
    shape: (draws) => [Math.ceil(draws / SAMPLES_OF_A_BYTE), SAMPLES_OF_A_BYTE],
    calls: ([blocks]) => calls([blocks! * SAMPLES_OF_A_BYTE]),
  };
}

const flat = (vocabSize: number): Float32Array => normalLogits(vocabSize, 0.5, 300);

/** One head, and tokens that lie `gap` below it. */
function headAndTail(tokens: number, gap: number): Float32Array {
  const logits = new Float32Array(1 + tokens).fill(-gap);
  logits[0] = 0;
  return logits;
}

/** All logits are equal, those of two shards among them. */
function equalShards(): Experiment {
  return { ...samplesOf(new Float32Array(256), 1, { shards: 2 }), shards: 2 };
}

/** Rows of different temperatures, which the judged logits hold. */
function temperaturesOfRows(): Experiment {
  const temperatures = [0.5, 1, 2];
  const rows = temperatures.map(() => normalLogits(32, 1, 301));
  const call: SamplerCall = {
    logits: joined(rows),
    rows: rows.length,
    vocabSize: 32,
    numSamples: 1,
    temperature: temperatures,
    seed: rows.map(() => EXPERIMENT_SEED),
    sequence: [0, 1, 2],
    position: rows.map(() => 5),
  };
  return { ...samplesOfInput({ call, judged: call.logits }), temperature: 1, judged: Float64Array.from(call.logits, (logit, index) => logit / temperatures[Math.floor(index / 32)]!) };
}

/** A call's first rows, at T = 1. */
function firstRows(name: CheckInput, rows: number): Input {
  const { call, judged } = checkInput(name);
  const values = rows * call.vocabSize;
  const { mask, topK, seed, sequence, position } = call;
  return {
    call: {
      ...call,
      logits: call.logits.subarray(0, values),
      rows,
      temperature: new Array<number>(rows).fill(1),
      seed: seed.slice(0, rows),
      sequence: sequence.slice(0, rows),
      position: position.slice(0, rows),
      ...(mask && { mask: mask.subarray(0, (mask.length / call.rows) * rows) }),
      ...(topK && { topK: topK.slice(0, rows) }),
    },
    judged: judged.subarray(0, values),
  };
}

function topKOfEquals(): Experiment {
  return { ...samplesOf(EQUAL_LOGITS, 1, { topK: [EQUAL_KEPT.length] }), judged: onlyTokens(EQUAL_LOGITS, EQUAL_KEPT) };
}

const EXPERIMENTS = {
  flat: () => samplesOf(flat(64)),
  "few tokens": () => samplesOf(Float32Array.of(0, 1, -1, 0.5)),
  normal: () => samplesOf(normalLogits(64, 2, 302), 0.8),
  peaked: () => samplesOf(headAndTail(15, 9.6)),
  "large logits": () => samplesOf(normalLogits(256, 2, 303, 40)),
  "low logits": () => samplesOf(normalLogits(70, 1, 304, -30)),
  /** expected at a million draws: 41 */
  tail: () => samplesOf(headAndTail(1000, 17)),
  /** expected at a million draws: 2e-17 */
  "unreachable tail": () => samplesOf(headAndTail(2000, 60)),
  /** 5e-7 each, 1e-3 together */
  "rare tokens": () => samplesOf(headAndTail(2000, 14.5)),
  /** 1 % of 131071 tokens, each 1.3 units of an f32 near 1 */
  "large vocabulary": () => samplesOf(headAndTail(131_071, Math.log(99 * 131_071))),
  "many samples": () => samplesInBytes(flat(16)),
  "equal rows": () => rowsOf(flat(16), [{ name: "row", size: 32 }], true, ([sequence]) => ({ sequence: sequence! })),
  "rows in sixteens": () => rowsOf(flat(16), [{ name: "tile", size: 2 }, { name: "row", size: 16 }], true, ([tile, row]) => ({ sequence: 16 * tile! + row! })),
  "odd rows": () => rowsOf(flat(16), [{ name: "row", size: 3 }], true, ([sequence]) => ({ sequence: sequence! })),
  "equal shards": equalShards,
  positions: () => rowsOf(flat(16), [{ name: "position", size: null }], false, ([position]) => ({ position: position! })),
  "late positions": () => rowsOf(flat(16), [{ name: "position", size: null }], false, ([position]) => ({ position: 2 ** 24 + position! })),
  "distant positions": () => rowsOf(flat(16), [{ name: "block", size: 2 }, { name: "position", size: 10 }], true, ([block, position]) => ({ position: 65_536 * block! + position! })),
  /** V = 64: 2^26 rows have 2^32 tokens */
  "distant sequences": () => rowsOf(flat(64), [{ name: "block", size: 2 }, { name: "sequence", size: 10 }], true, ([block, sequence]) => ({ sequence: 2 ** 26 * block! + sequence! })),
  "wide seeds": () => rowsOf(flat(16), [{ name: "upper", size: 8 }], true, ([upper]) => ({ seed: (BigInt(upper!) << 32n) + 7n })),
  "consecutive seeds": () => rowsOf(flat(16), [{ name: "seed", size: 100 }], true, ([seed]) => ({ seed: BigInt(seed!) })),
  "temperatures of rows": temperaturesOfRows,
  mask: () => samplesOfInput(firstRows("mask", 1)),
  "masks of rows": () => samplesOfInput(firstRows("mask", 2)),
  "top-k": () => samplesOfInput(firstRows("top-k", 3)),
  "top-k of equals": topKOfEquals,
  "top-p": () => samplesOfInput(nucleusInput([NUCLEUS], 1)),
  "top-p of hundreds": () => samplesOfInput(nucleusInput([NUCLEUS_OF_HUNDREDS], 1)),
  "top-k and top-p": () => samplesOfInput(nucleusInput([NUCLEUS_OF_THREE], 1)),
} satisfies Record<string, () => Experiment>;

export type GofInput = keyof typeof EXPERIMENTS;

export const experimentNames = Object.keys(EXPERIMENTS) as GofInput[];

export const experiment = (name: GofInput): Experiment => EXPERIMENTS[name]();
