/** Many draws of one kind: whose calls they are, and in which order their tokens lie. */
import type { SamplerCall, SamplerUnderTest } from "../../src/verify/sampler-under-test.js";
import { joined } from "./logits.js";

export interface Experiment {
  readonly vocabSize: number;
  /** [V], or [B, V] for B rows on the first axis; -Infinity for what masks and filters forbid */
  readonly judged: Float32Array | Float64Array;
  readonly temperature: number;
  readonly axes: readonly string[];
  /** of about so many draws */
  shape(draws: number): number[];
  /** Their tokens, one call's behind the other's, fill the shape. */
  calls(shape: readonly number[]): Iterable<SamplerCall>;
  readonly shards?: number;
}

export const EXPERIMENT_SEED = 0x5eed_0000_0001n;

/** About so many draws: the tokens in the order of the shape. */
export async function drawTokens(sampler: SamplerUnderTest, { shape: shapeOf, calls }: Experiment, draws: number): Promise<{ readonly tokens: Int32Array; readonly shape: readonly number[] }> {
  const shape = shapeOf(draws);
  const tokens = new Int32Array(shape.reduce((product, size) => product * size, 1));
  let drawn = 0;
  for (const call of calls(shape)) {
    const more = await sampler(call);
    tokens.set(more, drawn);
    drawn += more.length;
  }
  return { tokens, shape };
}

/** Samples of one row. */
export function samplesOf(logits: Float32Array, temperature = 1, more: Partial<SamplerCall> = {}): Experiment {
  return {
    vocabSize: logits.length,
    judged: logits,
    temperature,
    axes: ["sample"],
    shape: (draws) => [draws],
    calls: ([numSamples]) => [{ logits, rows: 1, vocabSize: logits.length, numSamples: numSamples!, temperature: [temperature], seed: [EXPERIMENT_SEED], sequence: [0], position: [5], ...more }],
  };
}

/** Rows of a call at most. */
const CALL_ROWS = 1000;

/** Where the draws of a row differ from those of others. */
type Address = Partial<Record<"sequence" | "position", number>> & { readonly seed?: bigint };

/** An axis whose places are rows: the others have all of its places. sizes: null for as many as there are draws. */
interface RowAxis {
  readonly name: string;
  readonly size: number | null;
}

/** Of all rows. */
interface Filters {
  readonly topK?: number;
  readonly topP?: number;
}

/** Rows of the same logits with addresses of their own, and samples of each where an axis "sample" is asked for. */
export function rowsOf(logits: Float32Array, axes: readonly RowAxis[], hasSamples: boolean, address: (places: readonly number[]) => Address, filters: Filters = {}): Experiment {
  const fixed = axes.reduce((product, { size }) => product * (size ?? 1), 1);
  const rowSizes = (draws: number) => axes.map(({ size }) => size ?? Math.ceil(draws / fixed));
  return {
    vocabSize: logits.length,
    judged: logits,
    temperature: 1,
    axes: [...axes.map(({ name }) => name), ...(hasSamples ? ["sample"] : [])],
    shape: (draws) => [...rowSizes(draws), ...(hasSamples ? [Math.ceil(draws / fixed)] : [])],
    *calls(shape) {
      const sizes = shape.slice(0, axes.length);
      const rows = sizes.reduce((product, size) => product * size, 1);
      const repeated = joined(new Array<Float32Array>(Math.min(rows, CALL_ROWS)).fill(logits));
      for (let start = 0; start < rows; start += CALL_ROWS) {
        const addresses = Array.from({ length: Math.min(CALL_ROWS, rows - start) }, (_, row) => address(placesOf(start + row, sizes)));
        yield {
          logits: repeated.subarray(0, addresses.length * logits.length),
          rows: addresses.length,
          vocabSize: logits.length,
          numSamples: hasSamples ? shape.at(-1)! : 1,
          temperature: addresses.map(() => 1),
          seed: addresses.map(({ seed = EXPERIMENT_SEED }) => seed),
          sequence: addresses.map(({ sequence = 0 }) => sequence),
          position: addresses.map(({ position = 5 }) => position),
          ...(filters.topK !== undefined && { topK: addresses.map(() => filters.topK!) }),
          ...(filters.topP !== undefined && { topP: addresses.map(() => filters.topP!) }),
        };
      }
    },
  };
}

/** The places on the axes of a row-major index. */
function placesOf(index: number, sizes: readonly number[]): number[] {
  const places: number[] = [];
  for (const size of sizes.toReversed()) {
    places.unshift(index % size);
    index = Math.floor(index / size);
  }
  return places;
}
