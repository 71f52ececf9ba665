/** The edge corpus: a test case a case. */
import type { CorpusCheckDocument, CorpusVerdict } from "../documents.js";
import { suiteOfCases, type JunitCase, type JunitSuite } from "./suite.js";

export function corpusSuite({ passed, exact, corpusVersion, counts, cases }: CorpusCheckDocument): JunitSuite {
  return {
    ...suiteOfCases("corpus check", cases.map(caseOf)),
    properties: Object.entries({ corpusVersion, exact }),
    output: `${passed ? "passed" : "FAILED"}: ${Object.entries(counts).map(([status, count]) => `${count} ${status}`).join(", ")}`,
  };
}

function caseOf({ name, status, trouble, issue, faultCount, faults }: CorpusVerdict): JunitCase {
  switch (status) {
    case "passed":
      return { name };
    case "skipped":
      return { name, skipped: "left out" };
    case "missing":
      return { name, failure: { type: "missing", lines: [`no ${name}.npy`, trouble, issue] } };
    case "failed": {
      const lines = faults.map(({ row, sample, why }) => `row ${row}, sample ${sample}: ${why}`);
      const rest = faultCount > faults.length ? [`${faultCount - faults.length} more`] : [];
      return { name, failure: { type: "failed", lines: [...lines, ...rest, trouble, issue] } };
    }
  }
}
