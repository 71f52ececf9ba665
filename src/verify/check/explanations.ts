/** Whether errors of some arithmetic would explain all wrong draws: then that is what went unsaid, and not the sampler what is wrong. */
import type { HeadShape } from "../../backend.js";
import { namedErrors, type LogitError } from "../logit-error.js";
import { verdictOf, type Comparison } from "../verdict.js";

export class Explanations {
  /** those that explain all wrong draws so far */
  #open: readonly LogitError[];
  #count = 0;

  /** shape: of the head, null for given logits */
  constructor(shape: HeadShape | null) {
    this.#open = namedErrors(shape);
  }

  /** To be called with each wrong draw. compare: as it would have come out with that error; null: no error explains it */
  async add(compare: ((error: LogitError) => Comparison | Promise<Comparison>) | null): Promise<void> {
    this.#count++;
    const still: LogitError[] = [];
    for (const error of compare === null ? [] : this.#open) if (verdictOf(await compare!(error)) === "near-tie") still.push(error);
    this.#open = still;
  }

  /** The first that explains all of them; null: none does, or there are none. */
  get name(): string | null {
    return this.#count === 0 ? null : (this.#open[0]?.name ?? null);
  }
}
