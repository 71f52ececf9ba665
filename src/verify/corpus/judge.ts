/** What a sampler made of the corpus, judged by what any correct sampler may draw, or by the rule's own tokens. */
import { wordsOf } from "./arrays.js";
import { CORPUS, type CorpusCase, type CorpusOutcome, type CorpusRange, type DrawCase, type NoiseCase } from "./corpus.js";

/**
 * A sampler's answer to one case: tokens [rows * numSamples], negative for none, or the noise of each word. null: the call was
 * refused as a whole.
 */
export type Answer = ArrayLike<number> | null;

export interface CorpusFault {
  readonly row: number;
  readonly sample: number;
  readonly why: string;
}

export interface JudgeOptions {
  /** the answer to another case; undefined where there is none */
  readonly answerTo: (name: string) => Answer | undefined;
  /** by the rule's own tokens too: for implementations of docs/spec.md */
  readonly exact: boolean;
}

/** How many numbers an answer has. */
export function answerLength(item: CorpusCase): number {
  return item.kind === "noise" ? item.rows : item.rows * item.parameters.numSamples;
}

/** What is wrong with an answer; nothing, where it is right. @throws RangeError for an answer of another length */
export function judge(item: CorpusCase, answer: Answer, options: JudgeOptions): CorpusFault[] {
  if (answer !== null && answer.length !== answerLength(item)) throw new RangeError(`"${item.name}" expected ${answerLength(item)} numbers, got ${answer.length}`);
  if (answer === null) return item.outcomes.some(({ refusal }) => refusal !== undefined) ? [] : [{ row: 0, sample: 0, why: "refused as a whole, with nothing in it to refuse" }];
  return item.kind === "noise" ? judgeNoise(item, answer, options.exact) : judgeDraws(item, answer, options);
}

function judgeNoise({ files, expected }: NoiseCase, answer: ArrayLike<number>, exact: boolean): CorpusFault[] {
  const words = wordsOf(CORPUS.arrays[files.words]!);
  const gammas = expected.gamma.split(" ").map((digits) => parseInt(digits, 16));
  return gammas.flatMap((gamma, row) => {
    const noise = answer[row]!;
    const fault = !Number.isFinite(noise) ? "is not finite" : exact && noise !== gamma ? `is not the rule's gamma, ${gamma}` : null;
    const [high, low] = [words[2 * row]!, words[2 * row + 1]!].map((word) => word.toString(16).padStart(8, "0"));
    return fault === null ? [] : [{ row, sample: 0, why: `noise ${noise} of the words ${high} ${low} ${fault}` }];
  });
}

function judgeDraws(item: DrawCase, tokens: ArrayLike<number>, { answerTo, exact }: JudgeOptions): CorpusFault[] {
  const faults = item.outcomes.flatMap((outcome) => [...judgeEach(item, outcome, tokens), ...judgeDistinct(item, outcome, tokens), ...judgeSame(item, outcome, tokens, answerTo)]);
  if (!exact || item.expected === null) return faults;
  return [...faults, ...drawsOf(item, [0, item.rows - 1]).flatMap(({ row, sample, index }) => {
    const expected = item.expected!.tokens[index]!;
    return Math.max(tokens[index]!, -1) === expected ? [] : [{ row, sample, why: `${named(tokens[index]!)}, and the rule draws ${named(expected)}` }];
  })];
}

interface DrawPlace {
  readonly row: number;
  readonly sample: number;
  readonly index: number;
}

function drawsOf({ parameters: { numSamples } }: DrawCase, [first, last]: CorpusRange): DrawPlace[] {
  return Array.from({ length: (last - first + 1) * numSamples }, (_, at) => {
    const index = first * numSamples + at;
    return { row: Math.floor(index / numSamples), sample: index % numSamples, index };
  });
}

const named = (token: number): string => (token < 0 ? "no token" : `token ${token}`);

/** Allowed tokens and refusals, draw by draw. */
function judgeEach(item: DrawCase, { rows, allowed, refusal }: CorpusOutcome, tokens: ArrayLike<number>): CorpusFault[] {
  if (allowed === undefined && refusal === undefined) return [];
  return drawsOf(item, rows).flatMap(({ row, sample, index }) => {
    const token = tokens[index]!;
    const why = faultOf(token, item.V, allowed, refusal);
    return why === null ? [] : [{ row, sample, why: `${named(token)} ${why}` }];
  });
}

function faultOf(token: number, vocabSize: number, allowed: CorpusOutcome["allowed"], refusal: CorpusOutcome["refusal"]): string | null {
  if (token < 0) return refusal === undefined ? "came out, and one must" : null;
  if (token >= vocabSize) return `is past the vocabulary of ${vocabSize}`;
  if (refusal === "must") return "came out of a row that has none";
  return allowed!.some(([first, last]) => first <= token && token <= last) ? null : "has no probability";
}

function judgeDistinct(item: DrawCase, { rows, distinct }: CorpusOutcome, tokens: ArrayLike<number>): CorpusFault[] {
  if (distinct === undefined) return [];
  const drawn = new Set(drawsOf(item, rows).map(({ index }) => tokens[index]!).filter((token) => token >= 0));
  if (drawn.size >= distinct) return [];
  return [{ row: rows[0], sample: 0, why: `${drawn.size} different tokens in rows ${rows[0]} to ${rows[1]}, at least ${distinct} expected` }];
}

/** Nothing is said where the other case has no answer, or was refused. */
function judgeSame(item: DrawCase, { rows, sameAs }: CorpusOutcome, tokens: ArrayLike<number>, answerTo: JudgeOptions["answerTo"]): CorpusFault[] {
  const other = sameAs === undefined ? undefined : answerTo(sameAs.case);
  if (sameAs === undefined || other === undefined || other === null) return [];
  const shift = (sameAs.row - rows[0]) * item.parameters.numSamples;
  return drawsOf(item, rows).flatMap(({ row, sample, index }) => {
    const [token, otherToken] = [tokens[index]!, other[index + shift]!];
    return token === otherToken ? [] : [{ row, sample, why: `${named(token)}, and ${named(otherToken)} in row ${row - rows[0] + sameAs.row} of ${sameAs.case}` }];
  });
}
