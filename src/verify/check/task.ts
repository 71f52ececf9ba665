/** A check that was understood: inputs of the right kinds and lengths. */
import type { PerRow } from "../../arguments.js";
import type { RowRequest } from "../../spec/request.js";
import type { CheckedDraw } from "../documents.js";
import type { LogitError } from "../logit-error.js";
import { settledDraw, type Decision } from "../verdict.js";
import type { LogitSource, RowLogits } from "./logit-source.js";
import { createTurns } from "./turns.js";
import type { Vocabulary } from "./vocabulary.js";

export interface CheckTask {
  readonly source: LogitSource;
  readonly vocabulary: Vocabulary;
  /** one a row */
  readonly requests: readonly RowRequest[];
  readonly temperature: PerRow;
  readonly numSamples: number;
  /** [B * numSamples], the samples of a row side by side; past 2^53 the nearest f64 */
  readonly tokens: Float64Array;
  /** by the index of the draw, those past 2^53 in decimal */
  readonly told: ReadonlyMap<number, string>;
  readonly error: LogitError;
  /** how many wrong draws get their rank and probability */
  readonly ranks: number;
  readonly signal: AbortSignal | undefined;
}

/** All draws in their order, and the named error that would explain the wrong ones: see Explanations. */
export interface Judged {
  readonly draws: CheckedDraw[];
  readonly explainedBy: string | null;
}

export const placeOf = (task: CheckTask, index: number) => ({ row: Math.floor(index / task.numSamples), sample: index % task.numSamples });

export const temperatureOf = ({ temperature }: CheckTask, row: number): number => (typeof temperature === "number" ? temperature : temperature[row]!);

/** See settledDraw. index: of the draw */
export function settle(task: CheckTask, index: number, decision: Decision): CheckedDraw | null {
  const place = placeOf(task, index);
  const given = task.tokens[index]!;
  const fault = task.vocabulary.faultOf(place.row, given) ?? (task.source.isMasked(place.row, given) ? "masked" : null);
  const settled = settledDraw(place, given, decision, fault);
  const told = task.told.get(index);
  return settled === null || told === undefined ? settled : { ...settled, given: told };
}

/** Bytes of f64 logits and hidden states that are held at a time. */
const ROWS_BYTES = 1 << 26;

/** Scores between two turns of the event loop: some tens of milliseconds. */
const TURN_SCORES = 1 << 18;

/** To be called with the number of scores that were made. */
export const turnsOf = ({ signal }: CheckTask): ((scores: number) => Promise<void>) => createTurns(TURN_SCORES, signal);

/**
 * All logits of some rows, a few rows at a time, masked as the task says.
 * @throws the signal's reason, before each row
 */
export async function* rowLogits(task: CheckTask, rows: readonly number[]): AsyncGenerator<RowLogits> {
  const { source, vocabulary } = task;
  const count = Math.max(1, Math.floor(ROWS_BYTES / (8 * (source.vocabSize + (source.shape?.hiddenSize ?? 0)))));
  for (let first = 0; first < rows.length; first += count) {
    const some = rows.slice(first, first + count);
    for (const row of await source.all(some, (token) => some.some((row) => vocabulary.isAllowed(row, token)))) {
      task.signal?.throwIfAborted();
      row.logits.forEach((_, token) => {
        if (!vocabulary.isAllowed(row.row, token)) row.logits[token] = -Infinity;
      });
      yield row;
    }
  }
}
