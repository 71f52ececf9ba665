/** Invariances: a test case each, with the smallest case that breaks it. */
import type { InvarianceDocument, InvarianceFinding } from "../documents.js";
import { countsText, smallestLines } from "../invariance/sentences.js";
import { suiteOfCases, type JunitCase, type JunitSuite } from "./suite.js";

export function invarianceSuite(document: InvarianceDocument): JunitSuite {
  const { passed, sampler, calls, seed, reads, findings, unasked = [] } = document;
  return {
    ...suiteOfCases("invariance", findings.map((finding) => caseOf(finding, unasked.includes(finding.name)))),
    properties: Object.entries({ sampler, calls, seed, reads: reads?.join(",") }),
    output: `${passed ? "passed" : "FAILED"}: ${countsText(document)} of ${sampler}`,
  };
}

/** A skipped case counts as a pass for whoever reads the file: one that was to be asked is none. */
function caseOf(finding: InvarianceFinding, isUnasked: boolean): JunitCase {
  const { name, question, status, why } = finding;
  if (isUnasked) return { name, failure: { type: "missing", lines: [why ?? "", question] } };
  switch (status) {
    case "kept":
      return { name };
    case "skipped":
      return { name, skipped: why ?? "" };
    case "broken":
      return { name, failure: { type: "broken", lines: [why ?? "", question, ...smallestLines(finding)] } };
  }
}
