/** What was found, in lines: the same ones for people and for JUnit. */
import type { InvarianceDocument, InvarianceFinding } from "../documents.js";

/** "3 kept, 1 broken, 28 skipped, in 160 calls"; what was not asked for want of calls comes first. */
export function countsText({ calls, findings, unasked = [] }: InvarianceDocument): string {
  const count = (status: InvarianceFinding["status"]) => findings.filter((finding) => finding.status === status).length;
  const missing = unasked.length === 0 ? "" : `incomplete, as calls did not suffice for ${unasked.length}: `;
  return `${missing}${count("kept")} kept, ${count("broken")} broken, ${count("skipped")} skipped, in ${calls} calls`;
}

/** The smallest case that breaks an invariance; none for one that is not broken. */
export function smallestLines({ smallest }: InvarianceFinding): string[] {
  if (smallest === null) return [];
  const { description, rows, vocabSize } = smallest;
  return [
    `the smallest case, ${rows} ${rows === 1 ? "row" : "rows"} of ${vocabSize} ${vocabSize === 1 ? "token" : "tokens"}:`,
    ...description.split("\n").map((line) => `  ${line}`),
    ...tokenLines(smallest),
  ];
}

/** Lists of one kind alone are no comparison. */
function tokenLines({ before, after, row }: NonNullable<InvarianceFinding["smallest"]>): string[] {
  if (before.length > 0 && after.length > 0) return [`  row ${row} before: ${before.join(" ")}`, `  row ${row} after:  ${after.join(" ")}`];
  const drawn = [...before, ...after];
  return drawn.length > 0 ? [`  drawn: ${drawn.join(" ")}`] : [];
}
