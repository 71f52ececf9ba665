/** What was found, in sentences: the same ones for people, for JUnit and for GitHub. */
import type { CheckDocument, CheckedDraw } from "../documents.js";
import { engines } from "../engines/list.js";
import { OURS } from "./options.js";

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

export function summaryText({ passed, engine, inputs, logitError, counts }: CheckDocument): string {
  const { exact, nearTie, wrong } = counts;
  const draws = `${counted(exact + nearTie + wrong, "draw")}: ${counted(inputs.rows, "row")} x ${counted(inputs.numSamples, "sample")}, V = ${inputs.vocabSize}`;
  return `${passed ? "passed" : "FAILED"}: ${wrong} wrong, ${nearTie} near-tie, ${exact} exact of ${draws} (engine ${engine.name}, logit error ${logitErrorText(logitError)})`;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** What may be wrong with the question, and not with the sampler; null where nothing hints at it. */
export function hintText(document: CheckDocument): string | null {
  const { counts, draws, explainedBy = null, inputs } = document;
  const { wrong } = counts;
  if (explainedBy !== null) return `${wrong === 1 ? "the wrong draw would be a near-tie" : `all ${wrong} wrong draws would be near-ties`} with --logit-error ${explainedBy}`;
  const outside = draws.filter(({ fault }) => fault === "out-of-range").length;
  if (2 * outside > draws.length) return `${shareText(outside, draws.length)} tokens are out of range: ${inputs.dtype === null ? "is this the logits file" : "is this the head"} of these tokens?`;
  return isOfOtherDraws(document) ? `${shareText(wrong, draws.length)} draws differ: ${othersText(document)}?` : null;
}

const shareText = (count: number, of: number): string => (count === of ? "all" : "most");

/** Draws of which half say something; of fewer, all. */
const FEWEST_FOR_MOST = 8;

/** Most are wrong, and all tokens could have been drawn: so it looks where what was drawn is not what is checked. */
function isOfOtherDraws({ draws, counts: { wrong } }: CheckDocument): boolean {
  const isMost = wrong === draws.length ? draws.length > 1 : draws.length >= FEWEST_FOR_MOST && 2 * wrong > draws.length;
  return isMost && draws.every(({ fault }) => fault === null);
}

/** What a draw hangs on, of the engine that is asked about. */
function othersText({ engine, inputs }: CheckDocument): string {
  const { hasNoPositions = false } = engines.find(({ name }) => name === engine.name) ?? {};
  const options = Object.entries(engine.options).map(([name, value]) => `${name}=${value}`);
  const parts = [
    "another seed",
    ...(hasNoPositions ? [] : ["position"]),
    ...(engine.name === OURS ? ["sequence"] : []),
    "temperature",
    ...(options.length === 0 ? [] : [`engine option (here ${options.join(", ")})`]),
    ...(inputs.rows > 1 ? ["order of rows"] : []),
    ...(inputs.numSamples > 1 ? ["order of samples"] : []),
  ];
  return `${parts.join(", ")} or engine`;
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
