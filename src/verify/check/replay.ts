/**
 * Draws against the replay of another engine: its scores for all tokens of a row, with bounds for what its device computes and for the error of its
 * logits.
 */
import { around, decide, isProven, leadOver, type Bounded } from "../bounded.js";
import type { CheckedDraw } from "../documents.js";
import type { EngineDraw, EngineReplay, OptionValues } from "../engines/list.js";
import { errorOf, type LogitError } from "../logit-error.js";
import { comparedDraw, type Comparison, type Decision } from "../verdict.js";
import { Explanations } from "./explanations.js";
import type { RowLogits } from "./logit-source.js";
import { probabilityOf } from "./screen.js";
import { rowLogits, settle, temperatureOf, turnsOf, type CheckTask, type Judged } from "./task.js";

const NO_TOKEN: Decision = { token: -1, margin: null };

/** @throws RangeError where the engine cannot be asked for such a draw */
export async function judgeReplay(task: CheckTask, engine: EngineReplay, options: OptionValues): Promise<Judged> {
  const { source, numSamples } = task;
  const draws: CheckedDraw[] = [];
  const explanations = new Explanations(source.shape);
  const scored = turnsOf(task);
  let ranks = task.ranks;
  const rows = task.requests.map((_, row) => row).filter((row) => !source.isInvalid(row));
  for await (const logits of rowLogits(task, rows)) {
    const replay = new RowReplay(task, logits, engine, options);
    for (let sample = 0; sample < numSamples; sample++) {
      const draw = await replay.judge(sample);
      const isRanked = draw.verdict === "wrong" && draw.fault === null && ranks-- > 0;
      draws[logits.row * numSamples + sample] = isRanked ? replay.ranked(draw) : draw;
      if (draw.verdict === "wrong") await explanations.add(draw.fault === null ? (error) => replay.compare(sample, draw, error) : null);
      await scored(source.vocabSize);
    }
  }
  for (let index = 0; index < task.tokens.length; index++) {
    if (draws[index] !== undefined) continue;
    draws[index] = settle(task, index, NO_TOKEN)!;
    if (draws[index]!.verdict === "wrong") await explanations.add(null);
  }
  return { draws, explainedBy: explanations.name };
}

class RowReplay {
  readonly #task: CheckTask;
  readonly #logits: RowLogits;
  readonly #bounded: Bounded;
  readonly #scoresOf: (logits: Bounded, sample: number) => Bounded;
  readonly #isMasked: boolean;
  #scores: Bounded;

  constructor(task: CheckTask, logits: RowLogits, engine: EngineReplay, options: OptionValues) {
    this.#task = task;
    this.#logits = logits;
    this.#bounded = boundedBy(logits, task.error);
    this.#isMasked = logits.logits.every((logit) => logit === -Infinity);
    this.#scoresOf = (bounded, sample) => engine.scores(bounded, drawOf(task, logits.row, sample), options);
    this.#scores = this.#bounded;
  }

  async judge(sample: number): Promise<CheckedDraw> {
    const { row } = this.#logits;
    const index = row * this.#task.numSamples + sample;
    if (this.#isMasked) return settle(this.#task, index, NO_TOKEN)!;
    this.#scores = this.#scoresOf(this.#bounded, sample);
    const { token, runnerUp, gap } = decide(this.#scores);
    const decision: Decision = { token, margin: runnerUp < 0 || !Number.isFinite(gap) ? null : gap };
    const settled = settle(this.#task, index, decision);
    if (settled !== null) return settled;
    const given = this.#task.tokens[index]!;
    return comparedDraw({ row, sample }, given, decision, await this.#compare(sample, token, given, this.#task.error, this.#bounded, this.#scores));
  }

  /** A wrong draw again, with another error of the logits. */
  compare(sample: number, { expected }: CheckedDraw, error: LogitError): Promise<Comparison> {
    const bounded = boundedBy(this.#logits, error);
    const given = this.#task.tokens[this.#logits.row * this.#task.numSamples + sample]!;
    return this.#compare(sample, expected, given, error, bounded, this.#scoresOf(bounded, sample));
  }

  /** Where the bounds of all tokens leave it open, the nearer ones of the two decide. */
  async #compare(sample: number, expected: number, given: number, error: LogitError, { value, low, high }: Bounded, scores: Bounded): Promise<Comparison> {
    const lead = leadOver(scores, expected, given);
    if (isProven(lead) || this.#task.source.shape === null) return { gap: lead.gap, allowed: lead.error };
    const [lower, upper] = [low.slice(), high.slice()];
    for (const token of [expected, given]) {
      const own = errorOf(error, await this.#task.source.at(this.#logits.row, token));
      lower[token] = value[token]! - own;
      upper[token] = value[token]! + own;
    }
    const nearer = leadOver(this.#scoresOf({ value, low: lower, high: upper }, sample), expected, given);
    return { gap: nearer.gap, allowed: nearer.error };
  }

  ranked(draw: CheckedDraw): CheckedDraw {
    const { value } = this.#scores;
    const given = this.#task.tokens[draw.row * this.#task.numSamples + draw.sample]!;
    const own = value[given]!;
    const rank = value.reduce((count, score, token) => (score > own || (score === own && token < given) ? count + 1 : count), 1);
    return { ...draw, rank, probability: probabilityOf(this.#logits.logits, temperatureOf(this.#task, draw.row), given) };
  }
}

const boundedBy = ({ logits, size }: RowLogits, error: LogitError): Bounded => around(logits, logits.map((_, token) => errorOf(error, size(token))));

function drawOf(task: CheckTask, row: number, sample: number): EngineDraw {
  const { source, requests, numSamples } = task;
  const { seed, position } = requests[row]!;
  return { seed, position: BigInt(position), row, rows: source.rowCount, sample, numSamples, vocabSize: source.vocabSize, temperature: temperatureOf(task, row) };
}
