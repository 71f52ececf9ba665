/** What an invariance is made of: cases of a size, each of which the sampler passes or breaks. */
import type { InvarianceFinding } from "../documents.js";
import type { Probe } from "./probe.js";
import type { Random } from "./random.js";

/** What a sampler may take beside logits, temperatures and seeds. */
export const OPTIONAL_INPUTS = ["samples", "sequence", "position", "mask", "top-k", "top-p", "shards"] as const;
export type OptionalInput = (typeof OPTIONAL_INPUTS)[number];

export interface Size {
  readonly rows: number;
  readonly vocabSize: number;
}

/** What cases are made from. */
export interface Making extends Size {
  readonly random: Random;
  readonly reads: ReadonlySet<OptionalInput>;
}

/** How a case was broken. */
export interface Break {
  readonly why: string;
  readonly smallest: NonNullable<InvarianceFinding["smallest"]>;
  /** there are no tokens to compare: nothing is known of them */
  readonly isFailedCall?: true;
}

export interface Verdict {
  /** draws that were compared or judged */
  readonly cases: number;
  readonly broken: Break | null;
}

export interface Case {
  /** The probability that a right sampler breaks it by chance; 0 for tokens that must be the same. */
  readonly falseAlarm: number;
  /** @throws FailedCall when a call gives no tokens */
  check(probe: Probe): Promise<Verdict>;
}

export interface Invariance {
  readonly name: string;
  /** what must not change what, as a question that "yes" answers well */
  readonly question: string;
  /** what a sampler must read to be asked */
  readonly needs: readonly OptionalInput[];
  /** whether it compares calls, so that a sampler that does not repeat itself cannot be asked */
  readonly isComparison: boolean;
  /** why it is asked only on request; absent: it is asked of all */
  readonly onRequest?: string;
  /** the sizes that are tried */
  readonly sizes: readonly Size[];
  /** the smallest size that can break; absent: the sizes that are tried are as small as chance allows */
  readonly smallest?: Size;
  make(making: Making): readonly Case[];
}
