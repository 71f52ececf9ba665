/** What a mutant is: a fault, and what must catch it. */
import type { Patch } from "./rule.js";
import type { CheckInput } from "./check-inputs.js";
import type { GofInput } from "./gof-inputs.js";

export interface Mutant {
  readonly name: string;
  /** what it does wrong, in a few words */
  readonly fault: string;
  readonly patch: Patch;
  /** the input on which the exact check must catch it */
  readonly check: CheckInput;
  /** the input on which the tokens' statistics must; absent: they cannot, or not in a minute */
  readonly gof?: GofInput;
  /** the property of the invariance search that must be broken; absent: none need be */
  readonly invariance?: string;
}
