/** What the shapes of all documents have in common. */
import type { VerifyDocument } from "../documents.js";
import { flag, integer, text } from "./shapes.js";

/** More than a person reads: tests, findings, bins. */
export const LIST_LIMIT = 1000;
export const name = text(1000);
export const sentence = text(100_000);
export const count = integer(0);
export const token = integer(Number.MIN_SAFE_INTEGER);

/** The start of each. */
export const found = { specVersion: name, version: name, passed: flag };

/** A page that begins with "passed" must have nothing below that says otherwise. */
export function refuseFalsePass({ kind, passed }: VerifyDocument, hasFailure: boolean, what: string, where: string): void {
  if (passed && hasFailure) throw new RangeError(`"${where}${kind}.passed" expected false beside ${what}, got true`);
}

/** counts: what a document says of its list. tally: what the list says. */
export function refuseOtherCounts<Field extends string>(kind: string, counts: Readonly<Record<Field, number>>, tally: Readonly<Record<Field, number>>, list: string, where: string): void {
  for (const field of Object.keys(tally) as Field[]) {
    if (counts[field] !== tally[field]) throw new RangeError(`"${where}${kind}.counts.${field}" expected ${tally[field]}, as its ${list} say, got ${counts[field]}`);
  }
}
