/** What a sampler made of the corpus, judged by what any correct sampler may draw, or by the rule's own tokens. */
import { describe } from "../../describe.js";
import { readOptions } from "../guards.js";
import { checkCase, readAnswer, type Answer } from "./answer.js";
import { wordsOf } from "./arrays.js";
import { CORPUS, type CorpusCase, type CorpusOutcome, type CorpusRange, type DrawCase, type NoiseCase } from "./corpus.js";

export { answerLength, type Answer } from "./answer.js";

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

/** Of readAnswer. */
type Numbers = readonly (number | bigint)[];
/** The answer to another case, where there is one that was not refused. */
type Others = (name: string) => Numbers | null;

/**
 * What is wrong with an answer; nothing, where it is right.
 * item: one of CORPUS.cases
 * @throws TypeError, RangeError naming the case or the option: for answers of another length, and for tokens that are no whole numbers of 64 bits
 */
export function judge(item: CorpusCase, answer: Answer, options: JudgeOptions): CorpusFault[] {
  checkCase(item);
  const { answerTo, exact } = readOptions(options, ["answerTo", "exact"]);
  if (typeof answerTo !== "function") throw new TypeError(`"answerTo" expected a function, got ${describe(answerTo)}`);
  if (typeof exact !== "boolean") throw new TypeError(`"exact" expected true or false, got ${describe(exact)}`);
  const numbers = readAnswer(item, answer);
  if (numbers === null) return item.outcomes.some(({ refusal }) => refusal !== undefined) ? [] : [{ row: 0, sample: 0, why: "refused as a whole, with nothing in it to refuse" }];
  return item.kind === "noise" ? judgeNoise(item, numbers, exact) : judgeDraws(item, numbers, othersOf(answerTo), exact);
}

function othersOf(answerTo: JudgeOptions["answerTo"]): Others {
  return (name) => {
    const other = answerTo(name);
    return other === undefined ? null : readAnswer(CORPUS.cases.find((item) => item.name === name)!, other);
  };
}

function judgeNoise({ files, expected }: NoiseCase, answer: Numbers, exact: boolean): CorpusFault[] {
  const words = wordsOf(CORPUS.arrays[files.words]!);
  const gammas = expected.gamma.split(" ").map((digits) => parseInt(digits, 16));
  return gammas.flatMap((gamma, row) => {
    const noise = answer[row]!;
    const fault = !Number.isFinite(Number(noise)) ? "is not finite" : exact && Number(noise) !== gamma ? `is not the rule's gamma, ${gamma}` : null;
    const [high, low] = [words[2 * row]!, words[2 * row + 1]!].map((word) => word.toString(16).padStart(8, "0"));
    return fault === null ? [] : [{ row, sample: 0, why: `noise ${noise} of the words ${high} ${low} ${fault}` }];
  });
}

function judgeDraws(item: DrawCase, tokens: Numbers, others: Others, exact: boolean): CorpusFault[] {
  const faults = item.outcomes.flatMap((outcome) => [...judgeEach(item, outcome, tokens), ...judgeDistinct(item, outcome, tokens), ...judgeSame(item, outcome, tokens, others)]);
  if (!exact || item.expected === null) return faults;
  return [...faults, ...drawsOf(item, [0, item.rows - 1]).flatMap(({ row, sample, index }) => {
    const expected = item.expected!.tokens[index]!;
    return (tokens[index]! < 0 ? -1 : tokens[index]!) === expected ? [] : [{ row, sample, why: `${named(tokens[index]!)}, and the rule draws ${named(expected)}` }];
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

const named = (token: number | bigint): string => (token < 0 ? "no token" : `token ${token}`);

/** Allowed tokens and refusals, draw by draw. */
function judgeEach(item: DrawCase, { rows, allowed, refusal }: CorpusOutcome, tokens: Numbers): CorpusFault[] {
  if (allowed === undefined && refusal === undefined) return [];
  return drawsOf(item, rows).flatMap(({ row, sample, index }) => {
    const token = tokens[index]!;
    const why = faultOf(token, item.V, allowed, refusal);
    return why === null ? [] : [{ row, sample, why: `${named(token)} ${why}` }];
  });
}

function faultOf(token: number | bigint, vocabSize: number, allowed: CorpusOutcome["allowed"], refusal: CorpusOutcome["refusal"]): string | null {
  if (token < 0) return refusal === undefined ? "came out, and one must" : null;
  if (token >= vocabSize) return `is past the vocabulary of ${vocabSize}`;
  if (refusal === "must") return "came out of a row that has none";
  return allowed!.some(([first, last]) => first <= token && token <= last) ? null : "has no probability";
}

function judgeDistinct(item: DrawCase, { rows, distinct }: CorpusOutcome, tokens: Numbers): CorpusFault[] {
  if (distinct === undefined) return [];
  const drawn = new Set(drawsOf(item, rows).map(({ index }) => tokens[index]!).filter((token) => token >= 0));
  if (drawn.size >= distinct) return [];
  return [{ row: rows[0], sample: 0, why: `${drawn.size} different tokens in rows ${rows[0]} to ${rows[1]}, at least ${distinct} expected` }];
}

/** Nothing is said where the other case has no answer, or was refused. */
function judgeSame(item: DrawCase, { rows, sameAs }: CorpusOutcome, tokens: Numbers, others: Others): CorpusFault[] {
  const other = sameAs === undefined ? null : others(sameAs.case);
  if (sameAs === undefined || other === null) return [];
  const shift = (sameAs.row - rows[0]) * item.parameters.numSamples;
  return drawsOf(item, rows).flatMap(({ row, sample, index }) => {
    const [token, otherToken] = [tokens[index]!, other[index + shift]!];
    return token === otherToken ? [] : [{ row, sample, why: `${named(token)}, and ${named(otherToken)} in row ${row - rows[0] + sameAs.row} of ${sameAs.case}` }];
  });
}
