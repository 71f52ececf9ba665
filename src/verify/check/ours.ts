/**
 * Draws against the rule of this package. The fast backend decides, so that right draws cost nothing more; a token that differs gets its score
 * from its own row of the head, read alone.
 */
import type { SampleDetail } from "../../outcome.js";
import { reportMargin, type Scored } from "../../spec/score.js";
import type { CheckedDraw } from "../documents.js";
import { errorOf, type LogitError } from "../logit-error.js";
import { comparedDraw, type Comparison, type Decision } from "../verdict.js";
import { Explanations } from "./explanations.js";
import type { TokenLogit } from "./logit-source.js";
import { tokenScore } from "./noise.js";
import { bestTwo, probabilityOf, rankOf } from "./screen.js";
import { placeOf, rowLogits, settle, temperatureOf, turnsOf, type CheckTask, type Judged } from "./task.js";

/** score: S, null without a token */
interface OwnDecision extends Decision {
  readonly score: bigint | null;
}

/** details: of the backend, which knows of masked logits, but neither of masks nor of padding */
export async function judgeOurs(task: CheckTask, details: readonly SampleDetail[]): Promise<Judged> {
  const decisions = await allowedDecisions(task, details);
  const logits = new Looked(task);
  const explanations = new Explanations(task.source.shape);
  const scored = turnsOf(task);
  const draws: CheckedDraw[] = [];
  for (const [index, decision] of decisions.entries()) {
    task.signal?.throwIfAborted();
    const settled = settle(task, index, decision);
    const compare = settled === null ? await comparisonOf(task, index, decision, logits) : null;
    const draw = settled ?? comparedDraw(placeOf(task, index), task.tokens[index]!, decision, compare!(task.error));
    draws.push(draw);
    if (draw.verdict === "wrong") await explanations.add(compare);
    if (settled === null) await scored(task.source.shape?.hiddenSize ?? 1);
  }
  return { draws: await withRanks(task, draws), explainedBy: explanations.name };
}

/** The logits that were looked at in a row: samples of a row often differ in the same tokens. */
class Looked {
  readonly #task: CheckTask;
  #row = -1;
  readonly #tokens = new Map<number, TokenLogit>();

  constructor(task: CheckTask) {
    this.#task = task;
  }

  async at(row: number, token: number): Promise<TokenLogit> {
    if (row !== this.#row) this.#tokens.clear();
    this.#row = row;
    const found = this.#tokens.get(token) ?? (await this.#task.source.at(row, token));
    this.#tokens.set(token, found);
    return found;
  }
}

/** How the given token compares with the expected one, for any error of the logits. */
async function comparisonOf(task: CheckTask, index: number, { token: expected, score }: OwnDecision, logits: Looked): Promise<(error: LogitError) => Comparison> {
  const { row, sample } = placeOf(task, index);
  const given = task.tokens[index]!;
  const [own, best] = [await logits.at(row, given), await logits.at(row, expected)];
  const gap = reportMargin(score!, tokenScore(own.z, task.requests[row]!, sample, given));
  return (error) => ({ gap, allowed: errorOf(error, best) + errorOf(error, own) });
}

/** The decisions among the tokens that are allowed. A margin over a token that is not is not known. */
async function allowedDecisions(task: CheckTask, details: readonly SampleDetail[]): Promise<OwnDecision[]> {
  const { vocabulary } = task;
  const open: number[] = [];
  const decisions: OwnDecision[] = [];
  for (const [index, { token, scoreBits: score, runnerUp, margin }] of details.entries()) {
    const { row } = placeOf(task, index);
    const isAllowed = (candidate: number): boolean => candidate < 0 || vocabulary.isAllowed(row, candidate);
    decisions.push({ token, score, margin: isAllowed(runnerUp) ? margin : null });
    if (isAllowed(token)) continue;
    // A runner-up that is allowed is the winner of those that are.
    if (runnerUp >= 0 && isAllowed(runnerUp)) decisions[index] = { token: runnerUp, score: await scoreAt(task, index, runnerUp), margin: null };
    else open.push(index);
  }
  return decideOpen(task, open, decisions);
}

async function scoreAt(task: CheckTask, index: number, token: number): Promise<bigint> {
  const { row, sample } = placeOf(task, index);
  return tokenScore((await task.source.at(row, token)).z, task.requests[row]!, sample, token);
}

/** Draws whose two best tokens are both not allowed: all logits of their rows are needed. */
async function decideOpen(task: CheckTask, open: readonly number[], decisions: OwnDecision[]): Promise<OwnDecision[]> {
  const ofRow = byRow(task, open);
  const scored = turnsOf(task);
  for await (const logits of rowLogits(task, [...ofRow.keys()])) {
    for (const index of ofRow.get(logits.row)!) {
      decisions[index] = toDecision(await bestTwo(task.source, logits, task.requests[logits.row]!, placeOf(task, index).sample));
      await scored(task.source.vocabSize);
    }
  }
  return decisions;
}

function toDecision([winner, runnerUp]: readonly Scored[]): OwnDecision {
  if (winner === undefined) return { token: -1, score: null, margin: null };
  return { token: winner.token, score: winner.score, margin: runnerUp === undefined ? null : reportMargin(winner.score, runnerUp.score) };
}

/** Rank and probability of the first wrong draws of tokens that could have been drawn. */
async function withRanks(task: CheckTask, draws: CheckedDraw[]): Promise<CheckedDraw[]> {
  const wrong = Array.from(draws.keys()).filter((index) => draws[index]!.verdict === "wrong" && draws[index]!.fault === null);
  const ofRow = byRow(task, wrong.slice(0, task.ranks));
  const scored = turnsOf(task);
  for await (const logits of rowLogits(task, [...ofRow.keys()])) {
    for (const index of ofRow.get(logits.row)!) {
      const { row, sample } = draws[index]!;
      const given = task.tokens[index]!;
      const own = { token: given, score: await scoreAt(task, index, given) };
      const rank = await rankOf(task.source, logits, task.requests[row]!, sample, own);
      draws[index] = { ...draws[index]!, rank, probability: probabilityOf(logits.logits, temperatureOf(task, row), given) };
      await scored(task.source.vocabSize);
    }
  }
  return draws;
}

/** Indices of draws by their rows, in their order. */
function byRow(task: CheckTask, indices: readonly number[]): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  for (const index of indices) {
    const { row } = placeOf(task, index);
    const ofRow = rows.get(row);
    if (ofRow === undefined) rows.set(row, [index]);
    else ofRow.push(index);
  }
  return rows;
}
