/** A document of replay from anywhere. */
import type { ReplayDocument, ReplayOutcome } from "../documents.js";
import type { ReceiptDraw } from "../receipt.js";
import { count, found, LIST_LIMIT, name, refuseFalsePass, sentence, token } from "./document-parts.js";
import { check, either, list, nullable, object, oneOf, type Shape } from "./shapes.js";

const receiptDraw: Shape<ReceiptDraw> = object<ReceiptDraw>({ token, scoreBits: nullable(name), status: oneOf("ok", "invalid", "all-masked") });
const property = nullable(either(count, name));

const replayDocument: Shape<ReplayDocument> = object<ReplayDocument>({
  kind: oneOf("replay"),
  ...found,
  receipt: object<ReplayDocument["receipt"]>({ specVersion: name, version: name, backend: name }),
  draws: count,
  input: nullable(
    object<NonNullable<ReplayDocument["input"]>>({ input: oneOf("head", "hidden states", "logits"), property: oneOf("dtype", "V", "D", "B", "digest"), expected: property, got: property, place: sentence }),
  ),
  backends: list(
    object<ReplayOutcome>({
      backend: name,
      status: oneOf("confirmed", "differs", "skipped", "failed"),
      why: nullable(sentence),
      draw: nullable(object<NonNullable<ReplayOutcome["draw"]>>({ row: count, sample: count, expected: receiptDraw, got: receiptDraw, count })),
    }),
    LIST_LIMIT,
  ),
});

/** @throws TypeError, RangeError naming the field */
export function readReplay(value: unknown, where: string): ReplayDocument {
  const document = check(replayDocument, value, `${where}replay`);
  const { input, backends } = document;
  refuseFalsePass(document, input !== null, "an input that is not the receipt's", where);
  refuseFalsePass(document, backends.some(({ status }) => status === "differs" || status === "failed"), "backends that differ or failed", where);
  refuseFalsePass(document, !backends.some(({ status }) => status === "confirmed"), "no backend that confirmed it", where);
  return document;
}
