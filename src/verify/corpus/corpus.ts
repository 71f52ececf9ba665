/**
 * The edge corpus: inputs that break samplers, and what may come out of them. docs/corpus.md describes each field.
 * cases.json is made by examples/python-reference/generate_corpus.py, an independent reader of the rule.
 */
import data from "./cases.json" with { type: "json" };

/** A number; text where JSON has none: "NaN", "Infinity", "-Infinity", "-0". */
export type CorpusNumber = number | "NaN" | "Infinity" | "-Infinity" | "-0";
/** One value for all rows, or one a row. */
export type CorpusRows<Value> = Value | readonly Value[];

export interface CorpusArray {
  readonly dtype: "f32" | "f16" | "bf16" | "int8" | "u32";
  readonly shape: readonly number[];
  /** SHA-256 of the values: of floats as docs/receipts.md says, of integers as they are stored, little-endian */
  readonly digest: string;
  /** hexadecimal patterns: word, word*count, or (words)*count */
  readonly words: string;
}

export interface CorpusParameters {
  /** decimal text */
  readonly seed: CorpusRows<string>;
  readonly temperature: CorpusRows<CorpusNumber>;
  readonly position: CorpusRows<number>;
  readonly sequence: CorpusRows<number>;
  readonly numSamples: number;
  readonly topK?: number;
  readonly topP?: CorpusNumber;
  readonly shards?: number;
}

/** Inclusive: first and last. */
export type CorpusRange = readonly [number, number];

/** What is asked of some rows. */
export interface CorpusOutcome {
  readonly rows: CorpusRange;
  /** ranges of tokens, one of which each draw must be */
  readonly allowed?: readonly CorpusRange[];
  /** "must": no token may come out. "may": none need come out. Absent: one must. */
  readonly refusal?: "must" | "may";
  /** different tokens among all draws of these rows, at least */
  readonly distinct?: number;
  /** the rows of another case, from this row on, draw the same */
  readonly sameAs?: { readonly case: string; readonly row: number };
  /** the noise of each word is a number, neither infinite nor NaN */
  readonly finite?: true;
}

interface CaseStart {
  readonly name: string;
  /** what goes wrong in practice */
  readonly trouble: string;
  /** where it did */
  readonly issue: string;
  /** written by an export only when it is asked for */
  readonly large?: true;
  readonly rows: number;
  readonly outcomes: readonly CorpusOutcome[];
}

/** A draw from logits, or from weights and hidden states. */
export interface DrawCase extends CaseStart {
  readonly kind: "logits" | "head";
  /** names of arrays. mask: u32 [rows, words], bit token % 32 of word token / 32 is 1 for allowed tokens */
  readonly files: { readonly logits?: string; readonly mask?: string; readonly weights?: string; readonly scales?: string; readonly hidden?: string };
  readonly V: number;
  readonly D?: number;
  readonly dtype?: "bf16" | "f16" | "f32" | "int8";
  readonly headDigest?: string;
  readonly parameters: CorpusParameters;
  /** By the rule, [rows * numSamples]: tokens, -1 for none, and scores, "-" for none; null where the rule does not know the parameters. */
  readonly expected: { readonly tokens: readonly number[]; readonly scoreBits: string } | null;
}

/** Random words and their noise. */
export interface NoiseCase extends CaseStart {
  readonly kind: "noise";
  /** words: u32 [rows, 2], the high and the low word, in the order of the number that they stand for */
  readonly files: { readonly words: string };
  /** gamma of each pair, 8 hexadecimal digits */
  readonly expected: { readonly gamma: string };
}

export type CorpusCase = DrawCase | NoiseCase;

interface CorpusData {
  readonly corpusVersion: string;
  readonly specVersion: string;
  readonly arrays: Readonly<Record<string, CorpusArray>>;
  readonly cases: readonly CorpusCase[];
}

/** Any change of an input or of what is allowed raises the version; a case more raises its second number. */
export const CORPUS = data as unknown as CorpusData;

/** The value of one row. */
export function ofCorpusRow<Value>(value: CorpusRows<Value>, row: number): Value {
  return Array.isArray(value) ? (value as readonly Value[])[row]! : (value as Value);
}
