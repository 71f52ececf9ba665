/** The sampler under test behind a counter and checks of what it answers. */
import { describe } from "../../describe.js";
import { typedArrayKind } from "../../typed-arrays.js";
import { createTurns } from "../check/turns.js";
import { isList, messageOf } from "../values.js";
import type { SamplerUnderTest } from "../sampler-under-test.js";
import { hasToken, toCall, type Batch } from "./batch.js";

/** A call that gave no usable tokens. row: the first whose token is none of the vocabulary; null: there are no tokens. */
export class FailedCall extends Error {
  readonly batch: Batch;
  readonly row: number | null;
  readonly tokens: readonly number[];

  constructor(message: string, batch: Batch, row: number | null = null, tokens: readonly number[] = [], cause?: unknown) {
    super(message, { cause });
    this.batch = batch;
    this.row = row;
    this.tokens = tokens;
  }
}

/** No more calls may be made. */
export class CallLimitReached extends Error {}

/** Logits and tokens of calls between two turns of the event loop, where an abort can arrive. */
const TURN_NUMBERS = 1 << 18;

export class Probe {
  readonly #sampler: SamplerUnderTest;
  readonly #signal: AbortSignal | undefined;
  readonly #worked: (numbers: number) => Promise<void>;
  readonly #drawn = new WeakMap<Batch, number[][]>();
  #limit: number;
  #calls = 0;

  constructor(sampler: SamplerUnderTest, limit: number, signal?: AbortSignal) {
    this.#sampler = sampler;
    this.#limit = limit;
    this.#signal = signal;
    this.#worked = createTurns(TURN_NUMBERS, signal);
  }

  get calls(): number {
    return this.#calls;
  }

  /** @throws the signal's reason, whatever that is */
  throwIfAborted(): void {
    this.#signal?.throwIfAborted();
  }

  /** Runs work that may make only so many calls of its own. @throws CallLimitReached */
  async within<Result>(calls: number, work: () => Promise<Result>): Promise<Result> {
    const limit = this.#limit;
    this.#limit = Math.min(limit, this.#calls + calls);
    try {
      return await work();
    } finally {
      this.#limit = limit;
    }
  }

  /**
   * The samples of each row. -1 is a token of rows that have none to draw.
   * @throws FailedCall for an answer that is no tokens of the vocabulary; CallLimitReached; what says that the whole run must end
   */
  async draw(batch: Batch): Promise<number[][]> {
    const tokens = await this.ask(batch).catch((error: unknown) => {
      this.throwIfAborted();
      if (endsTheRun(error)) throw error;
      throw new FailedCall(`the call failed: ${messageOf(error)}`, batch, null, [], error);
    });
    const vocabSize = batch.rows[0]!.logits.length;
    tokens.forEach((samples, row) => {
      const lowest = hasToken(batch.rows[row]!) ? 0 : -1;
      const wrong = samples.find((token) => !(token >= lowest && token < vocabSize));
      if (wrong !== undefined) throw new FailedCall(`token ${wrong} is none of a vocabulary of ${vocabSize}`, batch, row, samples);
    });
    return tokens;
  }

  /** The tokens of a batch that several cases begin with: it is called once. */
  async drawOnce(batch: Batch): Promise<number[][]> {
    const known = this.#drawn.get(batch);
    if (known !== undefined) return known;
    const tokens = await this.draw(batch);
    this.#drawn.set(batch, tokens);
    return tokens;
  }

  /** As draw, whatever the tokens are. @throws what the sampler throws; TypeError, RangeError for an answer that is no such list */
  async ask(batch: Batch): Promise<number[][]> {
    this.throwIfAborted();
    if (this.#calls >= this.#limit) throw new CallLimitReached();
    this.#calls++;
    const call = toCall(batch);
    const { rows, numSamples } = call;
    const answer: unknown = await this.#sampler(call);
    await this.#worked(call.logits.length + rows * numSamples);
    this.throwIfAborted();
    if (!/^(Int|Uint)(8|16|32)Array$/.test(typedArrayKind(answer) ?? "") && !isList(answer)) {
      throw new TypeError(`"sampler" expected to return an Int32Array of tokens, got ${describe(answer)}`);
    }
    const list = answer as ArrayLike<unknown>;
    if (list.length !== rows * numSamples) throw new RangeError(`"sampler" expected to return ${rows} rows * ${numSamples} samples, got ${list.length} tokens${list.length === rows ? ': for a sampler of one draw a row leave "samples" out of reads' : ""}`);
    return Array.from({ length: rows }, (_, row) => Array.from({ length: numSamples }, (_, sample) => toToken(list[row * numSamples + sample])));
  }
}

function toToken(value: unknown): number {
  if (!Number.isInteger(value)) throw new TypeError(`"sampler" expected to return whole numbers, got ${describe(value)}`);
  // Past that, what a document says would be rounded.
  if (!Number.isSafeInteger(value)) throw new RangeError(`"sampler" expected to return whole numbers below 2^53, got ${describe(value)}`);
  return value as number;
}

/** Whether no more calls can be made: a sampler that hangs would hang in each of those to come. */
export function endsTheRun(error: unknown): boolean {
  return error instanceof CallLimitReached || (error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError"));
}
