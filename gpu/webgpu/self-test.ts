/**
 * Whether a device computes what docs/spec.md says. WGSL lets a device reorder sums, fuse products and flush what is small, and
 * drivers have bugs: so every kernel that samples answers known questions before its first use, on the device and through the
 * code that samples. Where plain sums come out wrong, kernels that hide each sum from the compiler are tried; where these do
 * too, nothing is sampled.
 */
import { STATUS_ALL_MASKED, STATUS_INVALID, type Backend, type BackendHead, type Candidates, type HeadShape, type HeadSink } from "../../src/backend.js";
import { encodeRequest } from "../../src/spec/request.js";
import { GpuError } from "../gpu-error.js";
import { layOutHead } from "../layout.js";
import { KNOWN_BITS } from "./self-test-answers.js";
import { HEAD_ROWS, knownHidden, knownLogits, KNOWN_SHAPES, knownScales, knownWeights, LOGITS_ROWS, NOISY_SAMPLES, type KnownHead, type KnownRow, type KnownRows } from "./self-test-inputs.js";
import { divisionFor } from "./tuning.js";

/** How a device keeps sums in their order: as they are written, or hidden from its compiler. */
export type Rung = "fma" | "opaque sums";
const RUNGS: readonly Rung[] = ["fma", "opaque sums"];

/** The heads of a device, with the kernels of a rung. */
export type CreateSink = (shape: HeadShape, scales: Float32Array | null, rung: Rung) => Promise<HeadSink>;

export class SelfTest {
  readonly #device: string;
  readonly #isSoftware: boolean;
  readonly #createSink: CreateSink;
  /** By the kernels that a head needs, whatever its batches: see kernelsOf. */
  readonly #rungs = new Map<string, Promise<Rung>>();
  /** First wrong answers, null where all were right, by rung, kernels and the division of the work. */
  readonly #tests = new Map<string, Map<unknown, Promise<string | null>>>();
  readonly #found: Record<string, Rung> = {};
  #logits: Promise<string | null> | null = null;

  /** @param device its name, for messages, and whether it computes on the processor */
  constructor({ description, isSoftware }: { readonly description: string; readonly isSoftware: boolean }, createSink: CreateSink) {
    this.#device = description;
    this.#isSoftware = isSoftware;
    this.#createSink = createSink;
  }

  /** The rungs found so far: heads of a dtype that no sampler had are not tested. */
  get rungs(): Readonly<Record<string, Rung>> {
    return this.#found;
  }

  /**
   * The rung for a head's kernels, tested on one row.
   * @throws GpuError "wrong-bits" when there is none
   */
  rungFor(shape: HeadShape): Promise<Rung> {
    return kept(this.#rungs, kernelsOf(shape), async () => {
      let wrong: string | null = null;
      for (const rung of RUNGS) {
        const answer = await this.#test(shape, rung, 1);
        if (answer === null) return (this.#found[kernelsOf(shape)] = rung);
        wrong ??= answer;
      }
      throw this.#wrongBits(wrong!);
    });
  }

  /**
   * Tests what a batch of so many rows needs.
   * @throws GpuError "wrong-bits". Where this was the first rung, heads that are made later begin on the second.
   */
  async assertRight(shape: HeadShape, rung: Rung, rows: number): Promise<void> {
    const wrong = await this.#test(shape, rung, rows);
    if (wrong === null) return;
    const next = RUNGS[RUNGS.indexOf(rung) + 1];
    if (next === undefined) throw this.#wrongBits(wrong);
    const kernels = kernelsOf(shape);
    if ((await this.#rungs.get(kernels)) === rung) {
      this.#rungs.set(kernels, Promise.resolve(next));
      this.#found[kernels] = next;
    }
    throw this.#wrongBits(`${wrong}. A new sampler will compute with ${next}`);
  }

  /** @throws GpuError "wrong-bits" when draws from given logits are wrong */
  async assertLogitsRight(sampleLogits: Backend["sampleLogits"]): Promise<void> {
    if (this.#logits === null) {
      this.#logits = firstDifference("logits", LOGITS_ROWS, 1, (rows, samples) => sampleLogits(knownLogits(rows, samples)));
      this.#logits.catch(() => (this.#logits = null));
    }
    const wrong = await this.#logits;
    if (wrong !== null) throw this.#wrongBits(wrong);
  }

  #wrongBits(wrong: string): GpuError {
    return new GpuError("wrong-bits", `"device" expected the bits of docs/spec.md, got others from ${this.#device}: ${wrong}`);
  }

  #test(shape: HeadShape, rung: Rung, rows: number): Promise<string | null> {
    const key = `${rung}, ${kernelsOf(shape)}`;
    let tests = this.#tests.get(key);
    if (tests === undefined) this.#tests.set(key, (tests = new Map()));
    return kept(tests, divisionFor(rows, this.#isSoftware), async () => {
      for (const name of knownHeads(shape)) {
        const wrong = await this.#ask(name, rung, rowsOfTest(rows, this.#isSoftware));
        if (wrong !== null) return wrong;
      }
      return null;
    });
  }

  async #ask(name: KnownHead, rung: Rung, rowsACall: number): Promise<string | null> {
    const shape = KNOWN_SHAPES[name];
    const head = await this.#load(shape, rung);
    try {
      const hidden = new Map<number, Float32Array>();
      const hiddenOf = (row: number): Float32Array => {
        if (!hidden.has(row)) hidden.set(row, knownHidden(shape, row));
        return hidden.get(row)!;
      };
      return await firstDifference(name, HEAD_ROWS, rowsACall, (rows, samples) => {
        const hiddenStates = new Float32Array(rows.length * shape.hiddenSize);
        rows.forEach(({ input }, index) => hiddenStates.set(hiddenOf(input), index * shape.hiddenSize));
        return head.sample({ hiddenStates, request: encodeRequest(rows.map(({ request }) => request), samples) });
      });
    } finally {
      head.dispose();
    }
  }

  async #load(shape: HeadShape, rung: Rung): Promise<BackendHead> {
    const sink = await this.#createSink(shape, knownScales(shape), rung);
    const weights = knownWeights(shape);
    const bytes = new Uint8Array(weights.buffer);
    const rowBytes = bytes.length / shape.vocabSize;
    for (let row = 0; row < shape.vocabSize; ) {
      const block = sink.reserve(row, shape.vocabSize - row);
      block.bytes.set(bytes.subarray(row * rowBytes, (row + block.rowCount) * rowBytes));
      await sink.commit(block, { norms: new Float32Array(block.rowCount), largest: new Float32Array(block.rowCount) });
      row += block.rowCount;
    }
    return sink.finish();
  }
}

/** Heads with the same text here are sampled by the same kernels. */
function kernelsOf(shape: HeadShape): string {
  return shape.dtype === "int8" && layOutHead(shape).isNarrow ? "int8 by 32 columns" : shape.dtype;
}

function knownHeads(shape: HeadShape): KnownHead[] {
  const names = (Object.keys(KNOWN_SHAPES) as KnownHead[]).filter((name) => kernelsOf(KNOWN_SHAPES[name]) === kernelsOf(shape));
  if (names.length === 0) throw new Error(`"shape" expected kernels with known answers, got those of ${kernelsOf(shape)}`);
  return names;
}

/** As many rows as need the same kernel: a full workgroup and a part of one if possible. */
function rowsOfTest(rows: number, isSoftware: boolean): number {
  const division = divisionFor(rows, isSoftware);
  const more = division.batch + 3;
  return divisionFor(more, isSoftware) === division ? more : rows;
}

/** Puts known rows to a device, so many a call, in turn. null, or the first wrong answer in words. */
async function firstDifference(
  name: keyof typeof KNOWN_BITS,
  { greedy, noisy }: KnownRows,
  rowsACall: number,
  sample: (rows: readonly KnownRow[], samples: number) => Promise<Candidates>,
): Promise<string | null> {
  let answersAt = 0;
  for (const [known, samples] of [[greedy, 1], [noisy, NOISY_SAMPLES]] as const) {
    for (let first = 0; first < known.length; first += rowsACall) {
      const indices = Array.from({ length: rowsACall }, (_, i) => (first + i) % known.length);
      const candidates = await sample(indices.map((index) => known[index]!), samples);
      for (const [row, index] of indices.entries()) {
        for (let draw = 0; draw < samples; draw++) {
          const expected = KNOWN_BITS[name][answersAt + index * samples + draw];
          const got = lineOf(candidates, row * samples + draw);
          if (got !== expected) return `${name}, row ${index} of ${samples === 1 ? "those without noise" : "those with noise"}, draw ${draw}: expected ${expected}, got ${got}`;
        }
      }
    }
    answersAt += known.length * samples;
  }
  return null;
}

/** A draw as KNOWN_BITS writes it. */
function lineOf({ status, token, score, runnerUp, runnerUpScore }: Candidates, draw: number): string {
  if (status[draw] === STATUS_INVALID) return "invalid";
  if (status[draw] === STATUS_ALL_MASKED) return "all-masked";
  const hex = (value: bigint): string => BigInt.asUintN(64, value).toString(16).padStart(16, "0");
  const winner = `${token[draw]} ${hex(score[draw]!)}`;
  return runnerUp[draw]! < 0 ? winner : `${winner} ${runnerUp[draw]} ${hex(runnerUpScore[draw]!)}`;
}

/** The map's promise for the key, begun once; a failure is forgotten, since a lost device says nothing about its bits. */
function kept<Key, Value>(map: Map<Key, Promise<Value>>, key: Key, begin: () => Promise<Value>): Promise<Value> {
  let value = map.get(key);
  if (value === undefined) {
    value = begin();
    map.set(key, value);
    value.catch(() => map.delete(key));
  }
  return value;
}
