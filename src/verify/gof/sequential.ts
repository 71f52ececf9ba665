/**
 * The same tests on a stream of batches, which stops at the first alarm. Each look is at all draws so far, and comes when they have
 * doubled. Look l has alpha / (l (l + 1)), and the last one all that is left, so that the rates of all looks add up to alpha.
 */
import type { GofDocument } from "../documents.js";
import { readOptions } from "../guards.js";
import { distributionsOf, type Distributions } from "./distributions.js";
import { judged, type Judged } from "./gof.js";
import { checkJudge, checkTokens, JUDGE_OPTIONS, type CheckedJudge, type CheckedTokens, type JudgedBy, type TokenArray } from "./input.js";
import { checkSupport } from "./support.js";

export interface TokenBatch {
  readonly tokens: TokenArray;
  /** as in goodnessOfFit; batches may differ in the size of the last axis alone, along which they follow each other */
  readonly shape?: readonly number[] | undefined;
}

export class SequentialGoodnessOfFit {
  readonly #judge: CheckedJudge;
  readonly #distributions: Distributions;
  readonly #batches: CheckedTokens[] = [];
  #draws = 0;
  #lookedAt = 0;
  #looks = 0;
  #found: GofDocument | null = null;

  /** @throws TypeError, RangeError naming the option */
  constructor(options: JudgedBy) {
    const judge = checkJudge(readOptions(options, JUDGE_OPTIONS));
    // Later looks need the logits as they are now.
    this.#judge = { ...judge, logits: judge.logits.slice() };
    this.#distributions = distributionsOf(this.#judge.logits, judge.vocabSize, judge.temperature);
  }

  /**
   * Takes a batch. Gives a document once there is an alarm, and null while there is none; after an alarm nothing more is taken.
   * @throws TypeError, RangeError naming the option, and then has taken nothing
   */
  add(batch: TokenBatch): GofDocument | null {
    if (this.#found !== null) return this.#found;
    const checked = checkTokens(readOptions(batch, ["tokens", "shape"]), this.#judge);
    this.#checkShape(checked);
    // The caller may use its array again at once.
    this.#batches.push({ ...checked, given: (checked.given as number[]).slice() });
    this.#draws += checked.given.length;
    if (this.#draws < 2 * this.#lookedAt && checkSupport(checked, this.#distributions).test.passed) return null;
    const judgement = this.#look(1 / ((this.#looks + 1) * (this.#looks + 2)));
    if (!judgement.passed) this.#found = judgement.document();
    return this.#found;
  }

  /**
   * The last look, at all draws.
   * @throws RangeError before the first batch
   */
  finish(): GofDocument {
    if (this.#batches.length === 0) throw new RangeError('"tokens" expected at least one batch, got none');
    // The looks before have spent 1 - 1 / (looks + 1).
    return (this.#found ??= this.#look(1 / (this.#looks + 1)).document());
  }

  #checkShape({ shape, axes }: CheckedTokens): void {
    const [first] = this.#batches;
    if (first === undefined) return;
    if (shape.length === first.shape.length && shape.slice(0, -1).every((size, axis) => size === first.shape[axis])) return;
    throw new RangeError(`"shape" expected [${[...first.shape.slice(0, -1), axes.at(-1)].join(", ")}] as in the first batch, got [${shape.join(", ")}]`);
  }

  #look(part: number): Judged {
    this.#looks++;
    this.#lookedAt = this.#draws;
    return judged(joined(this.#batches), this.#judge, this.#distributions, this.#judge.alpha * part, this.#looks);
  }
}

/** Along the last axis. */
function joined(batches: readonly CheckedTokens[]): CheckedTokens {
  const { shape, axes } = batches[0]!;
  const lines = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const given: (number | bigint)[] = [];
  for (let line = 0; line < lines; line++) {
    for (const batch of batches) {
      const length = batch.shape.at(-1)!;
      for (let index = line * length; index < (line + 1) * length; index++) given.push(batch.given[index]!);
    }
  }
  return { given, axes, shape: [...shape.slice(0, -1), given.length / lines] };
}
