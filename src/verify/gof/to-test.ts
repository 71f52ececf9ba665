/** A test as documents have it. */
import type { GofTest } from "../documents.js";

export interface Tested {
  readonly name: string;
  readonly question: string;
  readonly statistic: number;
  readonly degreesOfFreedom?: number;
  readonly pValue: number;
  readonly threshold: number;
  /** what is off; told only where the test fails */
  readonly detail: string;
}

export function toTest({ degreesOfFreedom = undefined, detail, ...tested }: Tested): GofTest {
  const passed = !(tested.pValue < tested.threshold);
  return { ...tested, degreesOfFreedom: degreesOfFreedom ?? null, passed, detail: passed ? null : detail };
}
