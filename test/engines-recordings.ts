/**
 * The draws of engines that test/vectors/engines and ../shared hold, in the words of src/verify/engines: what was drawn, from what logits, at which place.
 * Logits are formulas, told in each file.
 */
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { decide, exactly, isProven, leadOver, type Lead, type Prediction } from "../src/verify/bounded.js";
import type { EngineDraw, EngineReplay } from "../src/verify/engines/engine.js";
import type * as List from "../src/verify/engines/list.js";
import { readVectors } from "./vector-checks.js";

export interface RecordedDraw {
  readonly logits: Float32Array;
  readonly draw: EngineDraw;
  readonly options: readonly string[];
  readonly token: number;
}

export const recording = (engine: string): any => readVectors(`engines/${engine}`);

const shared = process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
const sharedFile = `${shared}/engines/recorded.json`;
export const lackOfShared = existsSync(sharedFile) ? null : `no ${sharedFile}`;
/** What ../shared/engines holds; without it, nothing. */
export const sharedRecording: any = lackOfShared === null ? JSON.parse(readFileSync(sharedFile, "utf8")) : null;

const rows = new Map<string, Float32Array>();

/** Row i of the logits of all recordings but FlashSampling's. */
export function logitsOfRow(i: number, vocabSize: number): Float32Array {
  const name = `${i} ${vocabSize}`;
  let row = rows.get(name);
  if (row === undefined) {
    row = Float32Array.from({ length: vocabSize }, (_, j) => (((i * 7919 + j * 104729 + ((i * j) % 97) * 31) % 2001) - 1000) / 128);
    rows.set(name, row);
  }
  return row;
}

const ONE_DRAW = { seed: 0n, position: 0n, row: 0, rows: 1, sample: 0, numSamples: 1, temperature: 1 };

/** A draw of the first row of a call, but for what is given. */
export const drawOf = (vocabSize: number, given: Partial<EngineDraw> = {}): EngineDraw => ({ ...ONE_DRAW, vocabSize, ...given });

const recorded = (token: number, logits: Float32Array, given: Partial<EngineDraw>, options: readonly string[] = []): RecordedDraw => ({
  token,
  logits,
  options,
  draw: drawOf(logits.length, given),
});

/** Requests with a seed and a position each. */
const requests = (name: string, optionsOf: (recording: any) => string[]): RecordedDraw[] =>
  recording(name).draws.flatMap((call: any) =>
    call.tokens.map((token: number, row: number) =>
      recorded(
        token,
        logitsOfRow(row, call.vocabSize),
        { seed: BigInt(call.seeds[row]), position: BigInt(call.positions[row]), row, rows: call.tokens.length, temperature: call.temperatures[row] },
        optionsOf(call),
      ),
    ),
  );

const vllmOptions = ({ precision, draft }: any): string[] => [`precision=${precision}`, `draft=${draft}`];

const torchDraws = (): RecordedDraw[] => [
  ...recording("torch").draws.flatMap(({ seed, vocabSize, offset, temperatures, tokens }: any) =>
    tokens.map((token: number, row: number) =>
      recorded(token, logitsOfRow(row, vocabSize), { seed: BigInt(seed), row, rows: tokens.length, temperature: temperatures[row] }, [`offset=${offset}`]),
    ),
  ),
  ...recording("torch").perRow.flatMap(({ vocabSize, position, seeds, tokens }: any) =>
    tokens.map((token: number, row: number) =>
      recorded(token, logitsOfRow(row, vocabSize), { seed: BigInt(seeds[row]), position: BigInt(position), row, rows: tokens.length }, ["generator=row"]),
    ),
  ),
];

const jaxDraws = (): RecordedDraw[] =>
  recording("jax").cases.flatMap((jaxCase: any) => {
    const { seed, partitionable } = jaxCase;
    const options = ["seed-bits=64", `partitionable=${partitionable}`];
    const call = (mode: string, vocabSize: number, tokens: number[]): RecordedDraw[] =>
      tokens.map((token, row) => recorded(token, logitsOfRow(row, vocabSize), { seed: BigInt(seed), row, rows: tokens.length }, [...options, `mode=${mode}`]));
    const several = (mode: string, samples: number[][]): RecordedDraw[] =>
      samples.flatMap((tokens, sample) =>
        tokens.map((token, row) => recorded(token, logitsOfRow(row, 1000), { seed: BigInt(seed), row, rows: 3, sample, numSamples: 2 }, [...options, `mode=${mode}`])),
      );
    return [
      ...Object.entries<number[]>(jaxCase.categoricalLow).flatMap(([size, tokens]) => call("low", Number(size), tokens)),
      ...Object.entries<number[]>(jaxCase.categoricalHigh).flatMap(([size, tokens]) => call("high", Number(size), tokens)),
      ...several("low", jaxCase.shape2Low),
      ...several("high", jaxCase.shape2High),
      ...jaxCase.foldIn5.map((token: number, row: number) =>
        recorded(token, logitsOfRow(row, 1000), { seed: BigInt(seed), position: 5n, row, rows: 3 }, [...options, "key=fold-in"]),
      ),
    ];
  });

/** One generator, draw after draw: draw k has row k mod 7. */
const sequences = (name: string, optionsOf: (recording: any) => string[]): RecordedDraw[] =>
  recording(name).draws.flatMap((call: any) =>
    call.tokens.map((token: number, position: number) =>
      recorded(
        token,
        logitsOfRow(position % 7, call.vocabSize),
        { seed: BigInt(call.seed), position: BigInt(position), temperature: call.temperature },
        optionsOf(call),
      ),
    ),
  );

/** llama.cpp's top-k takes all others away before the sampler. */
const llamaCppDraws = (): RecordedDraw[] =>
  recording("llamacpp").draws.flatMap(({ seed, vocabSize, temperature, topK, tokens }: any) =>
    tokens.map((token: number, position: number) => {
      const row = logitsOfRow(position % 7, vocabSize);
      const given = { seed: BigInt(seed), position: BigInt(position), temperature };
      return topK === 0 ? recorded(token, row, given) : recorded(token, onlyHighest(row, topK), given, ["order=ranks"]);
    }),
  );

function onlyHighest(logits: Float32Array, count: number): Float32Array {
  const least = Float32Array.from(logits).sort().at(-count)!;
  return logits.map((logit) => (logit < least ? -Infinity : logit));
}

/** By engine: what test/vectors/engines holds. */
export const recordedDraws: Readonly<Record<string, () => RecordedDraw[]>> = {
  "vllm-mrv2": () => requests("vllm-mrv2", vllmOptions),
  "vllm-murmur3": () => requests("vllm-murmur3", vllmOptions),
  sglang: () => requests("sglang", () => []),
  torch: torchDraws,
  jax: jaxDraws,
  llamacpp: llamaCppDraws,
  transformersjs: () => sequences("transformersjs", ({ topK }) => [`top-k=${topK}`]),
};

const grid = (height: number, width: number, at: (i: number, j: number) => number): Float32Array[] =>
  Array.from({ length: height }, (_, i) => Float32Array.from({ length: width }, (_, j) => at(i, j)));

const heads = new Map<string, Float32Array[]>();

/** The products are exact in any order. */
function flashSamplingLogits(V: number, D: number, B: number): Float32Array[] {
  const name = `${V} ${D} ${B}`;
  const known = heads.get(name);
  if (known !== undefined) return known;
  const weights = grid(V, D, (i, j) => ((Math.floor((i * 2654435761 + j * 40503 + ((i * j) % 251) * 977) / 8) % 17) - 8) / 16);
  const hidden = grid(B, D, (i, j) => ((Math.floor((i * 668265263 + j * 374761393 + 17) / 32) % 9) - 4) / 8);
  const logits = hidden.map((row) => Float32Array.from(weights, (weight) => weight.reduce((sum, value, column) => sum + value * row[column]!, 0)));
  heads.set(name, logits);
  return logits;
}

/** By engine: what ../shared/engines holds. */
export const sharedDraws: Readonly<Record<string, () => RecordedDraw[]>> = {
  flashsampling: () =>
    sharedRecording.flashsampling_triton.flatMap(({ V, D, B, num_samples: numSamples, seed, temperature, block_v, tokens }: any) =>
      flashSamplingLogits(V, D, B).flatMap((logits, row) =>
        tokens[row].map((token: number, sample: number) =>
          recorded(token, logits, { seed: BigInt(seed), row, rows: B, sample, numSamples, temperature }, [`block-v=${block_v}`]),
        ),
      ),
    ),
  flashinfer: () =>
    sharedRecording.flashinfer_sampling_from_logits.flatMap(({ B, V, seed, offset, tokens }: any) =>
      tokens.map((token: number, row: number) => recorded(token, logitsOfRow(row, V), { seed: BigInt(seed), row, rows: B }, [`offset=${offset}`])),
    ),
  "vllm-mrv2": () =>
    sharedRecording.vllm_mrv2.flatMap(({ B, V, seeds, pos, temp, fp64, tokens }: any) =>
      tokens.map((token: number, row: number) =>
        recorded(token, logitsOfRow(row, V), { seed: BigInt(seeds[row]), position: BigInt(pos[row]), row, rows: B, temperature: temp[row] }, [
          `precision=${fp64 ? "f64" : "f32"}`,
        ]),
      ),
    ),
  torch: () =>
    sharedRecording.torch.flatMap(({ seed, cuda_multinomial, cuda_exp_race }: any) =>
      [cuda_multinomial, cuda_exp_race].flatMap((tokens) =>
        tokens.flat().map((token: number, row: number) => recorded(token, logitsOfRow(row, 1000), { seed: BigInt(seed), row, rows: 3 })),
      ),
    ),
  jax: () =>
    sharedRecording.jax.cases.flatMap(({ seed, categorical, categorical_shape5 }: any) => [
      ...categorical.map((token: number, row: number) => recorded(token, logitsOfRow(row, 1000), { seed: BigInt(seed), row, rows: 3 })),
      ...categorical_shape5.flatMap((tokens: number[], sample: number) =>
        tokens.map((token, row) => recorded(token, logitsOfRow(row, 1000), { seed: BigInt(seed), row, rows: 3, sample, numSamples: 5 })),
      ),
    ]),
};

/** A recorded draw and what the replay says. */
export interface Replayed {
  readonly token: number;
  readonly prediction: Prediction;
  /** how the predicted token stands to the recorded one */
  readonly lead: Lead;
}

/** The draw as an engine of a list replays it. */
export function replay(list: Pick<typeof List, "readEngineOptions">, engine: EngineReplay, { logits, draw, options, token }: RecordedDraw): Replayed {
  const scores = engine.scores(exactly(logits), draw, list.readEngineOptions(engine, options).values);
  const prediction = decide(scores);
  return { token, prediction, lead: leadOver(scores, prediction.token, token) };
}

/** How draws compare: a token is wrong where another one must have been drawn. */
export function compare(draws: readonly Replayed[]) {
  const wrong = draws.filter(({ token, prediction, lead }) => token !== prediction.token && isProven(lead)).length;
  const proven = draws.filter(({ token, prediction }) => token === prediction.token && isProven(prediction)).length;
  return { draws: draws.length, proven, nearTies: draws.length - proven - wrong, wrong };
}
