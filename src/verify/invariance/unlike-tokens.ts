/**
 * Cases of draws that must differ. They are made in a few calls, and if they look too much alike, again each in a call of its own:
 * a sampler that takes the first row's seed for all rows fails elsewhere, not here.
 */
import { describeBatch, type Batch } from "./batch.js";
import type { Break, Case } from "./case.js";
import type { Probe } from "./probe.js";

/** Two lists that chance does not make so alike; or what was drawn, and what it should have looked like. */
export interface Likeness {
  readonly why: string;
  readonly before: readonly number[];
  readonly after: readonly number[];
}

/** Draws that are judged together. */
export interface Group {
  /** their rows, counted through all batches */
  readonly rows: readonly number[];
  /** the probability that judge finds something among independent draws, at most */
  readonly falseAlarm: number;
  /** tokens: [rows][samples], of these rows; null: all is well */
  judge(tokens: readonly number[][]): Likeness | null;
  /** whether the first draws alone can show that all is well, and more of them cannot change it */
  readonly clearsEarly: boolean;
  /** fewer draws that suffice where each takes a call */
  readonly fewer?: Group;
}

/** batches: of one vocabulary and one number of samples. */
export function unlikeTokens(batches: readonly Batch[], groups: readonly Group[]): Case {
  return {
    falseAlarm: groups.reduce((sum, group) => sum + group.falseAlarm, 0),
    async check(probe) {
      const drawn: number[][] = [];
      for (const batch of batches) drawn.push(...(await probe.draw(batch)));
      const calls = batches.flatMap((batch) => batch.rows.map((row) => ({ ...batch, rows: [row] })));
      const cases = drawn.length * batches[0]!.numSamples;
      for (const group of groups) {
        const told = group.judge(group.rows.map((row) => drawn[row]!)) && (await judgeAlone(probe, calls, group.fewer ?? group));
        if (told) return { cases, broken: told };
      }
      return { cases, broken: null };
    },
  };
}

/** Draws that must differ because they are rows of one call, and that are not made again. */
export function unlikeRows(batch: Batch, group: Group): Case {
  return {
    falseAlarm: group.falseAlarm,
    async check(probe) {
      const drawn = await probe.draw(batch);
      const likeness = group.judge(drawn);
      const description = describeDraws("rows of one call", batch.rows.map((_, row) => describeBatch(batch, row)));
      return { cases: drawn.length * batch.numSamples, broken: likeness && toBreak(likeness, batch, description) };
    },
  };
}

async function judgeAlone(probe: Probe, calls: readonly Batch[], group: Group): Promise<Break | null> {
  const tokens: number[][] = [];
  for (const row of group.rows) {
    tokens.push((await probe.draw(calls[row]!))[0]!);
    if (group.clearsEarly && group.judge(tokens) === null) return null;
  }
  const likeness = group.judge(tokens);
  if (likeness === null) return null;
  const made = group.rows.map((row) => calls[row]!);
  return toBreak(likeness, made[0]!, describeDraws("calls of one row", made.map((call) => describeBatch(call, 0))));
}

function toBreak({ why, before, after }: Likeness, { rows }: Batch, description: string): Break {
  return { why, smallest: { rows: rows.length, vocabSize: rows[0]!.logits.length, description, row: 0, before, after } };
}

function describeDraws(what: string, draws: readonly string[]): string {
  return draws.length === 1 ? draws[0]! : [`${draws.length} ${what}, the first two and the last:`, ...draws.slice(0, 2), ...draws.slice(2).slice(-1)].join("\n");
}
