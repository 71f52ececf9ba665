/** A document of corpus check from anywhere. */
import type { CorpusCheckDocument, CorpusVerdict } from "../documents.js";
import { count, found, LIST_LIMIT, name, refuseFalsePass, refuseOtherCounts, sentence } from "./document-parts.js";
import { check, flag, list, nullable, object, oneOf, optional, type Shape } from "./shapes.js";

type Inputs = NonNullable<CorpusCheckDocument["inputs"]>;

const corpusDocument: Shape<CorpusCheckDocument> = object<CorpusCheckDocument>({
  kind: oneOf("corpus-check"),
  ...found,
  corpusVersion: name,
  exact: flag,
  inputs: optional(object<Inputs>({ tokens: nullable(sentence), command: nullable(list(sentence, LIST_LIMIT)), server: flag, reads: list(name, LIST_LIMIT), only: nullable(sentence), skip: nullable(sentence) })),
  counts: object<CorpusCheckDocument["counts"]>({ passed: count, failed: count, missing: count, skipped: count }),
  cases: list(
    object<CorpusVerdict>({
      name,
      status: oneOf("passed", "failed", "missing", "skipped"),
      trouble: sentence,
      issue: sentence,
      faultCount: count,
      faults: list(object<CorpusVerdict["faults"][number]>({ row: count, sample: count, why: sentence }), LIST_LIMIT),
    }),
    LIST_LIMIT,
  ),
});

/** @throws TypeError, RangeError naming the field */
export function readCorpusCheck(value: unknown, where: string): CorpusCheckDocument {
  const document = check(corpusDocument, value, `${where}corpus-check`);
  const { counts, cases } = document;
  const tally = { passed: 0, failed: 0, missing: 0, skipped: 0 };
  for (const { status } of cases) tally[status]++;
  refuseOtherCounts("corpus-check", counts, tally, "cases", where);
  refuseFalsePass(document, counts.failed + counts.missing > 0, "cases that failed or are missing", where);
  return document;
}
