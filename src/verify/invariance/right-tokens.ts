/** Cases of calls some of whose tokens must never be drawn. */
import { describeBatch, type Batch } from "./batch.js";
import type { Case } from "./case.js";

/** Tokens of the right ones that are told. */
const TOLD = 20;

/** what: which tokens may be drawn. */
export function onlyRightTokens(what: string, batch: Batch, isRight: (row: number, token: number) => boolean): Case {
  return {
    falseAlarm: 0,
    async check(probe) {
      const drawn = await probe.draw(batch);
      const vocabSize = batch.rows[0]!.logits.length;
      const row = drawn.findIndex((tokens, index) => !tokens.every((token) => isRight(index, token)));
      const cases = drawn.length * batch.numSamples;
      if (row < 0) return { cases, broken: null };
      const wrong = drawn[row]!.find((token) => !isRight(row, token))!;
      const before = Array.from({ length: vocabSize }, (_, token) => token).filter((token) => isRight(row, token)).slice(0, TOLD);
      const description = `${describeBatch(batch, row)}\nbefore: tokens that may be drawn; after: the tokens drawn`;
      return { cases, broken: { why: `${what}: row ${row} draws token ${wrong}`, smallest: { rows: batch.rows.length, vocabSize, description, row, before, after: drawn[row]! } } };
    },
  };
}
