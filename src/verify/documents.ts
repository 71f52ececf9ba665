/**
 * What the verifying verbs find, as JSON: the documents that `--json` prints and that `flash-sampling report` draws.
 * Numbers are JSON numbers; seeds, 64-bit scores and tokens past 2^53 are decimal or hexadecimal text. null: there is no such number.
 */

import type { OtherDraw, OtherInput } from "./receipt-replay.js";

/** The start of each document. */
interface Found<Kind extends string> {
  readonly kind: Kind;
  readonly specVersion: string;
  /** of this package */
  readonly version: string;
  readonly passed: boolean;
}

export type Verdict = "exact" | "near-tie" | "wrong";
/** Why a token cannot have been drawn, whatever the noise. */
export type Fault = "negative" | "out-of-range" | "padded" | "masked" | "no-token";

/** One draw and what is said of it. */
export interface CheckedDraw {
  readonly row: number;
  readonly sample: number;
  /** decimal text past 2^53, where a JSON number would be rounded */
  readonly given: number | string;
  /** -1: the row has no token to draw */
  readonly expected: number;
  readonly verdict: Verdict;
  readonly fault: Fault | null;
  /** the expected token's lead over the runner-up, in logits */
  readonly margin: number | null;
  /** S(expected) - S(given), in logits; 0 when they are the same */
  readonly gap: number | null;
  /** what the logits' and the engine's errors may take off the gap: err(expected) + err(given) */
  readonly allowed: number | null;
  /** the given token's place by score, 1 the winner's; null where it was not computed */
  readonly rank: number | null;
  /** of the given token in softmax(logits / T); null where it was not computed */
  readonly probability: number | null;
}

export interface CheckDocument extends Found<"check"> {
  readonly engine: { readonly name: string; readonly title: string; readonly status: "exact" | "recorded" | "unproven"; readonly unproven: readonly string[]; readonly options: Readonly<Record<string, string>> };
  readonly inputs: {
    readonly rows: number;
    readonly numSamples: number;
    readonly vocabSize: number;
    readonly hiddenSize: number | null;
    readonly dtype: string | null;
    readonly headDigest: string | null;
    readonly seed: string;
    /** one for all rows, "the row's index" or "one a row" */
    readonly temperature: number | string;
    /** the same; missing in documents of earlier versions */
    readonly position?: number | string;
    /** the same; null: the engine reads none */
    readonly sequence?: number | string | null;
  };
  /** err = absolute + relative * sum|w*x| + rounding * |logit|, or absolute + (relative + rounding) * |logit| for given logits; rounding is 0 where absent */
  readonly logitError: { readonly name: string; readonly absolute: number; readonly relative: number; readonly rounding?: number };
  readonly counts: { readonly exact: number; readonly nearTie: number; readonly wrong: number };
  /** the named logit error under which all wrong draws would be near-ties; null: there is none, or no wrong draw; missing in documents of earlier versions */
  readonly explainedBy?: string | null;
  readonly draws: readonly CheckedDraw[];
}

/** One hypothesis and its test. It fails when pValue < threshold; thresholds sum up to alpha. */
export interface GofTest {
  readonly name: string;
  /** what is asked, in a sentence */
  readonly question: string;
  readonly statistic: number;
  readonly degreesOfFreedom: number | null;
  readonly pValue: number;
  readonly threshold: number;
  readonly passed: boolean;
  /** what is off, where it fails: "token 17 was drawn 40 times, 12.1 expected" */
  readonly detail: string | null;
}

export interface GofDocument extends Found<"gof"> {
  readonly draws: number;
  readonly distributions: number;
  readonly vocabSize: number;
  readonly temperature: number;
  /** the false-alarm rate of the whole */
  readonly alpha: number;
  /** how often a sequential run looked, and after how many draws it stopped */
  readonly looks: number;
  readonly stoppedAt: number;
  readonly tests: readonly GofTest[];
  /** the bins of the G-test, most expected first: `tokens` in a bin, at most 400 bins here (`binCount` in all) */
  readonly binCount: number;
  readonly bins: readonly { readonly label: string; readonly tokens: number; readonly expected: number; readonly observed: number }[];
  /** tokens by how far their logit / T lies below the highest; toGap null: no end */
  readonly tail: readonly { readonly fromGap: number; readonly toGap: number | null; readonly expected: number; readonly observed: number; readonly z: number }[];
  /** the tokens that are furthest off, at most 20 */
  readonly tokens: readonly { readonly token: number; readonly expected: number; readonly observed: number; readonly z: number }[];
  /** what the command line was given, addresses without user and query; missing where there was none, and in documents of earlier versions */
  readonly inputs?: { readonly tokens: readonly string[]; readonly logits: string; readonly axes: readonly string[] | null; readonly shards: number; readonly sequential: boolean };
  /** what so many draws find with the stated probability */
  readonly power: readonly { readonly what: string; readonly smallest: number; readonly probability: number }[];
}

export type InvarianceStatus = "kept" | "broken" | "skipped";

export interface InvarianceFinding {
  /** "batch-permutation", ... */
  readonly name: string;
  /** what must not change what */
  readonly question: string;
  readonly status: InvarianceStatus;
  readonly cases: number;
  /** for "skipped" and "broken": why */
  readonly why: string | null;
  /** the smallest case that breaks it: what was called, and the tokens that differ */
  readonly smallest: {
    readonly rows: number;
    readonly vocabSize: number;
    readonly description: string;
    readonly row: number;
    readonly before: readonly number[];
    readonly after: readonly number[];
  } | null;
}

export interface InvarianceDocument extends Found<"invariance"> {
  readonly sampler: string;
  readonly calls: number;
  /** of the made-up cases, and what the sampler was said to read; missing in documents of earlier versions */
  readonly seed?: number;
  readonly reads?: readonly string[];
  /** names of those that calls did not suffice for: while there are any, it has not passed; missing in documents of earlier versions */
  readonly unasked?: readonly string[];
  readonly findings: readonly InvarianceFinding[];
}

/** A sampler's answer to one case of the edge corpus, judged. */
export interface CorpusVerdict {
  readonly name: string;
  /** missing: there is no answer */
  readonly status: "passed" | "failed" | "missing" | "skipped";
  /** what goes wrong in practice, and where it did */
  readonly trouble: string;
  readonly issue: string;
  readonly faultCount: number;
  /** the first of them, at most 20 */
  readonly faults: readonly { readonly row: number; readonly sample: number; readonly why: string }[];
}

export interface CorpusCheckDocument extends Found<"corpus-check"> {
  readonly corpusVersion: string;
  /** whether tokens must be the rule's own */
  readonly exact: boolean;
  /** the folder of tokens, or the command that drew them and what it was said to read; and lists of names as given; missing in documents of earlier versions */
  readonly inputs?: {
    readonly tokens: string | null;
    readonly command: readonly string[] | null;
    readonly server: boolean;
    readonly reads: readonly string[];
    readonly only: string | null;
    readonly skip: string | null;
  };
  readonly counts: Readonly<Record<CorpusVerdict["status"], number>>;
  readonly cases: readonly CorpusVerdict[];
}

/** What one backend made of a receipt. */
export interface ReplayOutcome {
  readonly backend: string;
  readonly status: "confirmed" | "differs" | "skipped" | "failed";
  /** for "skipped" and "failed" */
  readonly why: string | null;
  /** for "differs" */
  readonly draw: OtherDraw | null;
}

export interface ReplayDocument extends Found<"replay"> {
  /** what it says of its own making */
  readonly receipt: { readonly specVersion: string; readonly version: string; readonly backend: string };
  readonly draws: number;
  /** the input that is not the receipt's, and where it lies; then no backend was asked */
  readonly input: (OtherInput & { readonly place: string }) | null;
  readonly backends: readonly ReplayOutcome[];
}

export type VerifyDocument = CheckDocument | GofDocument | InvarianceDocument | CorpusCheckDocument | ReplayDocument;
