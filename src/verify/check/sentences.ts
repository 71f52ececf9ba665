/** What was found, in sentences: the same ones for people, for JUnit and for GitHub. */
import type { CheckDocument, CheckedDraw } from "../documents.js";

export function placeText({ row, sample }: CheckedDraw, { inputs }: CheckDocument): string {
  return inputs.numSamples === 1 ? `row ${row}` : `row ${row}, sample ${sample}`;
}

/** Of a draw that is not exact. */
export function drawText(draw: CheckedDraw, { inputs }: CheckDocument): string {
  const { given, expected, fault, gap, allowed, rank, probability } = draw;
  switch (fault) {
    case "no-token":
      return `token ${given}, but the row has no token to draw`;
    case "negative":
      return expected < 0 ? `token ${given} is negative, and the row has none to draw: -1 expected` : `token ${given} is negative, ${expected} expected`;
    case "out-of-range":
      return `token ${given} is out of range, of ${inputs.vocabSize} tokens: ${expected} expected`;
    case "padded":
      return `token ${given} is padding, ${expected} expected`;
    case "masked":
      return `token ${given} is masked, ${expected} expected`;
    case null:
      break;
  }
  const told = [`token ${given}, ${expected} expected`, `gap ${numberText(gap)}, errors allow ${numberText(allowed)}`];
  if (rank !== null) told.push(`rank ${rank}`);
  if (probability !== null) told.push(`probability ${numberText(probability)}`);
  return told.join(", ");
}

export function summaryText({ passed, engine, logitError, counts }: CheckDocument): string {
  const { exact, nearTie, wrong } = counts;
  const draws = exact + nearTie + wrong;
  return `${passed ? "passed" : "FAILED"}: ${wrong} wrong, ${nearTie} near-tie, ${exact} exact of ${draws} ${draws === 1 ? "draw" : "draws"} (engine ${engine.name}, logit error ${logitErrorText(logitError)})`;
}

function logitErrorText({ name, absolute, relative }: CheckDocument["logitError"]): string {
  return name === "given" ? `${absolute},${relative}` : name;
}

/** What of the engine nothing has proven, the gravest first; none for the rule itself. */
export function caveats({ engine }: CheckDocument): string[] {
  const parts = engine.unproven.map((part) => `not proven by recordings of ${engine.name}: ${part}`);
  return engine.status === "unproven" ? [`UNPROVEN: no recording of ${engine.name} proves what is expected here`, ...parts] : parts;
}

function numberText(value: number | null): string {
  return value === null ? "unknown" : String(Number(value.toPrecision(4)));
}
