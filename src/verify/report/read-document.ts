/** Documents from anywhere: their shape, and that they do not contradict themselves, before anything is drawn. */
import { describe } from "../../describe.js";
import type { CheckDocument, CheckedDraw, GofDocument, GofTest, InvarianceDocument, InvarianceFinding, VerifyDocument } from "../documents.js";
import { fieldsOf } from "../values.js";
import { readCorpusCheck } from "./corpus-document.js";
import { count, found, LIST_LIMIT, name, refuseFalsePass, refuseOtherCounts, sentence, token } from "./document-parts.js";
import { readReplay } from "./replay-document.js";
import { check, either, flag, integer, list, nullable, number, object, oneOf, optional, text, texts, wholeText, type Shape } from "./shapes.js";

/** Draws of one document. */
const DRAW_LIMIT = 2 ** 26;
/** No count and no score of any sampler is larger. */
const amount = number(0, 1e300);
const difference = number(-1e300, 1e300);

const draw: Shape<CheckedDraw> = object<CheckedDraw>({
  row: count,
  sample: count,
  given: either(token, wholeText),
  expected: token,
  verdict: oneOf("exact", "near-tie", "wrong"),
  fault: nullable(oneOf("negative", "out-of-range", "padded", "masked", "no-token")),
  margin: nullable(amount),
  gap: nullable(difference),
  allowed: nullable(amount),
  rank: nullable(integer(1)),
  probability: nullable(number(0, 1)),
});

const ofRows = either(count, name);

const checkDocument: Shape<CheckDocument> = object<CheckDocument>({
  kind: oneOf("check"),
  ...found,
  engine: object<CheckDocument["engine"]>({ name, title: name, status: oneOf("exact", "recorded", "unproven"), unproven: list(sentence, LIST_LIMIT), options: texts(LIST_LIMIT, 1000) }),
  inputs: object<CheckDocument["inputs"]>({
    ...{ rows: count, numSamples: count, vocabSize: count, hiddenSize: nullable(count), dtype: nullable(name), headDigest: nullable(name) },
    ...{ seed: name, temperature: either(number(0), name), position: optional(ofRows), sequence: optional(nullable(ofRows)) },
  }),
  logitError: object<CheckDocument["logitError"]>({ name, absolute: number(0), relative: number(0), rounding: optional(number(0)) }),
  counts: object<CheckDocument["counts"]>({ exact: count, nearTie: count, wrong: count }),
  explainedBy: optional(nullable(name)),
  draws: list(draw, DRAW_LIMIT),
});

const gofTest: Shape<GofTest> = object<GofTest>({
  name,
  question: sentence,
  statistic: number(),
  degreesOfFreedom: nullable(number(0)),
  pValue: number(0, 1),
  threshold: number(0, 1),
  passed: flag,
  detail: nullable(sentence),
});

type GofInputs = NonNullable<GofDocument["inputs"]>;

const gofDocument: Shape<GofDocument> = object<GofDocument>({
  kind: oneOf("gof"),
  ...found,
  draws: count,
  distributions: count,
  vocabSize: count,
  temperature: number(0),
  alpha: number(0, 1),
  looks: count,
  stoppedAt: count,
  inputs: optional(object<GofInputs>({ tokens: list(sentence, LIST_LIMIT), logits: sentence, axes: nullable(list(name, LIST_LIMIT)), shards: count, sequential: flag })),
  tests: list(gofTest, LIST_LIMIT),
  binCount: count,
  bins: list(object<GofDocument["bins"][number]>({ label: name, tokens: count, expected: amount, observed: amount }), LIST_LIMIT),
  tail: list(object<GofDocument["tail"][number]>({ fromGap: difference, toGap: nullable(difference), expected: amount, observed: amount, z: difference }), LIST_LIMIT),
  tokens: list(object<GofDocument["tokens"][number]>({ token, expected: amount, observed: amount, z: difference }), LIST_LIMIT),
  power: list(object<GofDocument["power"][number]>({ what: sentence, smallest: number(), probability: number(0, 1) }), LIST_LIMIT),
});

const drawn = list(token, 2 ** 20);
type Smallest = NonNullable<InvarianceFinding["smallest"]>;

const invarianceDocument: Shape<InvarianceDocument> = object<InvarianceDocument>({
  kind: oneOf("invariance"),
  ...found,
  sampler: sentence,
  calls: count,
  seed: optional(count),
  reads: optional(list(name, LIST_LIMIT)),
  unasked: optional(list(name, LIST_LIMIT)),
  findings: list(
    object<InvarianceFinding>({
      name,
      question: sentence,
      status: oneOf("kept", "broken", "skipped"),
      cases: count,
      why: nullable(sentence),
      smallest: nullable(object<Smallest>({ rows: count, vocabSize: count, description: text(10_000_000), row: count, before: drawn, after: drawn })),
    }),
    LIST_LIMIT,
  ),
});

/**
 * source: where it is from, for messages
 * @throws TypeError, RangeError naming the field
 */
export function readDocument(value: unknown, source: string): VerifyDocument {
  const where = `${source}: `;
  const { kind } = fieldsOf(value, ["kind"]);
  switch (kind) {
    case "check":
      return consistentCheck(check(checkDocument, value, `${where}check`), where);
    case "gof":
      return consistentGof(check(gofDocument, value, `${where}gof`), where);
    case "invariance":
      return consistentInvariance(check(invarianceDocument, value, `${where}invariance`), where);
    case "corpus-check":
      return readCorpusCheck(value, where);
    case "replay":
      return readReplay(value, where);
    default:
      throw new (typeof kind === "string" ? RangeError : TypeError)(`"${where}kind" expected check, gof, invariance, corpus-check, replay, got ${describe(kind)}${kind === "receipt" ? ": flash-sampling replay --document writes what comes of it" : ""}`);
  }
}

function consistentCheck(document: CheckDocument, where: string): CheckDocument {
  const { counts, draws } = document;
  const tally = { exact: 0, "near-tie": 0, wrong: 0 };
  for (const { verdict } of draws) tally[verdict]++;
  refuseOtherCounts("check", counts, { exact: tally.exact, nearTie: tally["near-tie"], wrong: tally.wrong }, "draws", where);
  refuseFalsePass(document, counts.wrong > 0, "wrong draws", where);
  return document;
}

function consistentGof(document: GofDocument, where: string): GofDocument {
  refuseFalsePass(document, document.tests.some(({ passed }) => !passed), "tests that failed", where);
  return document;
}

function consistentInvariance(document: InvarianceDocument, where: string): InvarianceDocument {
  refuseFalsePass(document, document.findings.some(({ status }) => status === "broken"), "broken findings", where);
  refuseFalsePass(document, (document.unasked ?? []).length > 0, "questions that were not asked", where);
  return document;
}
