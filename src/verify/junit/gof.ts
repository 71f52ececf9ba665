/** Goodness of fit: a test case a test. */
import type { GofDocument, GofTest } from "../documents.js";
import { biasText } from "../gof/biases.js";
import { numberText } from "../gof/names.js";
import { suiteOfCases, type JunitCase, type JunitSuite } from "./suite.js";

export function gofSuite({ passed, draws, distributions, vocabSize, temperature, alpha, looks, stoppedAt, tests, power }: GofDocument): JunitSuite {
  const failed = tests.filter((test) => !test.passed);
  return {
    ...suiteOfCases("gof", tests.map(caseOf)),
    properties: Object.entries({ draws, distributions, vocabSize, temperature, alpha, looks, stoppedAt }),
    output: [
      `${passed ? "passed" : "FAILED"}: ${failed.length} of ${tests.length} tests failed, ${draws} draws, softmax(logits / ${temperature})`,
      ...power.map((bias) => `smallest bias that so many draws would show (probability ${bias.probability}): ${bias.what}: ${biasText(bias)}`),
    ].join("\n"),
  };
}

function caseOf({ name, question, statistic, pValue, threshold, passed, detail }: GofTest): JunitCase {
  const found = `p-value ${numberText(pValue)}, threshold ${numberText(threshold)}, statistic ${numberText(statistic)}`;
  return passed ? { name } : { name, failure: { type: "failed", lines: detail === null ? [found, question] : [detail, found, question] } };
}
