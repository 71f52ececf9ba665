/** Cases of calls that must draw the same tokens, row by row. */
import { describeBatch, type Batch } from "./batch.js";
import type { Case, Verdict } from "./case.js";
import type { Probe } from "./probe.js";

/** A changed call. */
export interface Part {
  readonly batch: Batch;
  /** row i must draw what row origin[i] drew before, as far as both have samples; -1: it may draw what it likes */
  readonly origin: readonly number[];
}

/** what: how the calls differ. after: the changed calls, which may hang on the tokens [rows][samples] drawn before. */
export function sameTokens(what: string, before: Batch, after: (tokens: readonly number[][]) => readonly Part[]): Case {
  return { falseAlarm: 0, check: (probe) => compare(probe, what, before, after) };
}

async function compare(probe: Probe, what: string, before: Batch, after: Parameters<typeof sameTokens>[2]): Promise<Verdict> {
  const expected = await probe.drawOnce(before);
  let cases = 0;
  for (const { batch, origin } of after(expected)) {
    const drawn = await probe.draw(batch);
    for (const [row, from] of origin.entries()) {
      if (from < 0) continue;
      const samples = Math.min(before.numSamples, batch.numSamples);
      const [was, is] = [expected[from]!.slice(0, samples), drawn[row]!.slice(0, samples)];
      cases += samples;
      if (was.every((token, sample) => token === is[sample])) continue;
      const description = `before:\n${describeBatch(before, from)}\nafter, ${what}:\n${describeBatch(batch, row)}`;
      const smallest = { rows: before.rows.length, vocabSize: before.rows[0]!.logits.length, description, row: from, before: was, after: is };
      return { cases, broken: { why: `${what}: row ${from} draws other tokens`, smallest } };
    }
  }
  return { cases, broken: null };
}
