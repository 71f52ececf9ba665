/** A sampler that is a process of its own. */
import type { SamplerUnderTest } from "../../verify/sampler-under-test.js";

export interface ProcessSampler {
  /**
   * One call at a time. It never settles once `failed` has rejected.
   * @throws RangeError and Error for a program that does not start, fails or gives no tokens; an Error named "TimeoutError" for one
   *   that does not answer
   */
  readonly sample: SamplerUnderTest;
  /** Rejects when no call can be made any more, for a reason that says nothing about the tokens. Never resolves. */
  readonly failed: Promise<never>;
  /** Lets it end by itself, then does what dispose does. */
  close(): Promise<void>;
  /** Ends what runs, with its children, and removes all files: at once. */
  dispose(): void;
}

/** What a call answers after the run is over. */
export const NEVER = new Promise<never>(() => {});

/** A promise that only rejects, which nobody needs to listen to. */
export function failure(): { readonly failed: Promise<never>; readonly fail: (error: Error) => void } {
  let fail: (error: Error) => void = () => {};
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => {});
  return { failed, fail };
}
