/** Invariances: a test case each, with the smallest case that breaks it. */
import type { InvarianceDocument, InvarianceFinding } from "../documents.js";
import { smallestLines } from "../invariance/sentences.js";
import { suiteOfCases, type JunitCase, type JunitSuite } from "./suite.js";

export function invarianceSuite({ passed, sampler, calls, seed, reads, findings }: InvarianceDocument): JunitSuite {
  const count = (status: InvarianceFinding["status"]) => findings.filter((finding) => finding.status === status).length;
  return {
    ...suiteOfCases("invariance", findings.map(caseOf)),
    properties: Object.entries({ sampler, calls, seed, reads: reads?.join(",") }),
    output: `${passed ? "passed" : "FAILED"}: ${count("kept")} kept, ${count("broken")} broken, ${count("skipped")} skipped, in ${calls} calls of ${sampler}`,
  };
}

function caseOf(finding: InvarianceFinding): JunitCase {
  const { name, question, status, why } = finding;
  switch (status) {
    case "kept":
      return { name };
    case "skipped":
      return { name, skipped: why ?? "" };
    case "broken":
      return { name, failure: { type: "broken", lines: [why ?? "", question, ...smallestLines(finding)] } };
  }
}
