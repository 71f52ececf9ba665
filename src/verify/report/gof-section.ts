/** Goodness of fit: whether many draws follow softmax(logits / T). */
import type { GofDocument, GofTest } from "../documents.js";
import { biasText, showsOnlyGross } from "../gof/biases.js";
import { commandLine, fileName } from "./command-line.js";
import { countsFigure } from "./counts-chart.js";
import { html, textOf, type Html } from "./html.js";
import { counted, decimal, exact, whole } from "./numbers.js";
import { provenance, type Section } from "./section.js";
import { outcome, titledTable, verdict } from "./table.js";
import { tailFigure } from "./tail-chart.js";
import { strongestFirst, testsFigure, thresholdText } from "./tests-chart.js";
import { tokensFigure } from "./tokens-chart.js";

export function gofSection(document: GofDocument): Section {
  const { draws, distributions, vocabSize, temperature, alpha, looks, stoppedAt, tests, power } = document;
  return {
    title: html`Goodness of fit`,
    passed: document.passed,
    content: html`${verdict(document.passed, whyOf(document))}
<p>${counted(draws, "draw")} of ${counted(distributions, "distribution")} over ${counted(vocabSize, "token")} compared with softmax(logits / T).
An exact sampler fails such a run with a probability of at most ${decimal(alpha)}.${looks > 1 ? ` The run looked ${whole(looks)} times and stopped after ${counted(stoppedAt, "draw")}.` : null}</p>
${tests.length === 0 ? null : testsTable(tests)}<div class="figures">${testsFigure(tests)}${countsFigure(document)}${tailFigure(document)}${tokensFigure(document)}</div>
${power.length === 0 ? null : powerTable(power)}${provenance(document, [
      ["draws", exact(draws)],
      ["distributions", exact(distributions)],
      ["vocabulary", exact(vocabSize)],
      ["temperature", exact(temperature)],
      ["false alarms (alpha)", exact(alpha)],
      ["looks", exact(looks)],
      ["stopped at", exact(stoppedAt)],
    ], commandOf(document))}`,
  };
}

/** With files by their names alone. */
function commandOf({ inputs, temperature, alpha }: GofDocument): Html | null {
  if (inputs === undefined) return null;
  const { tokens, logits, axes, shards, sequential } = inputs;
  return commandLine("gof", [
    ["--tokens", tokens.map(fileName)],
    ["--logits", fileName(logits)],
    ["--temperature", exact(temperature)],
    ["--alpha", exact(alpha)],
    ["--axes", axes === null ? null : axes.join(",")],
    ["--shards", shards === 1 ? null : exact(shards)],
    ["--sequential", sequential ? [] : null],
  ]);
}

function whyOf({ passed, tests, power }: GofDocument): Html {
  const failed = tests.filter((test) => !test.passed);
  if (failed.length === 0 && !passed) return html`The document says failed without a test that failed.`;
  if (failed.length === 0) return html`None of ${counted(tests.length, "test")} finds a difference from softmax(logits / T).${showsOnlyGross(power) ? " But so few draws show only gross faults." : null}`;
  const order = strongestFirst(failed);
  const [{ name: strongest, detail }] = order as [GofTest];
  // Names have commas.
  const names = order.slice(0, FAILED_NAMED).map(({ name }, index) => [index === 0 ? null : "; ", textOf(name)]);
  return html`${whole(failed.length)} of ${counted(tests.length, "test")} failed: ${names}${failed.length > FAILED_NAMED ? "; …" : null}.${detail === null ? null : html` ${failed.length === 1 ? null : html`${textOf(strongest)}: `}${textOf(detail)}`}`;
}

/** Tests that the verdict names. */
const FAILED_NAMED = 6;

function testsTable(tests: readonly GofTest[]): Html {
  const columns = [{ title: "" }, { title: "test" }, { title: "question", isLong: true }, ...["statistic", "degrees of freedom", "p-value", "threshold"].map((title) => ({ title, isNumber: true }))];
  const rows = tests.map(({ name, question, statistic, degreesOfFreedom, pValue, threshold, passed, detail }) => [
    outcome(passed, passed ? "passed" : "failed"),
    textOf(name),
    html`${textOf(question)}${detail === null ? null : html`<br><strong>${textOf(detail)}</strong>`}`,
    ...[statistic, degreesOfFreedom, pValue].map(decimal),
    thresholdText(threshold),
  ]);
  return titledTable("Tests: one fails when its p-value is below its threshold", columns, rows);
}

function powerTable(power: GofDocument["power"]): Html {
  const columns = [{ title: "bias", isLong: true }, { title: "smallest", isNumber: true }, { title: "shown with a probability of", isNumber: true }];
  return titledTable("Smallest biases that so many draws would show", columns, power.map((bias) => [textOf(bias.what), biasText(bias), decimal(bias.probability)]));
}
