/** Numbers for made-up cases: the same from the same seed, on every machine. */
import { philox4x32 } from "../../spec/philox.js";

export class Random {
  readonly #key: readonly [number, number];
  readonly #stream: number;
  readonly #attempt: number;
  #taken = 0;
  #words: readonly number[] = [];

  /** All u32. What differs in any of them is independent. */
  constructor(seed: number, stream: number, attempt: number) {
    this.#key = [seed, 0];
    this.#stream = stream;
    this.#attempt = attempt;
  }

  /** u32 */
  word(): number {
    if (this.#taken % 4 === 0) this.#words = philox4x32([this.#taken / 4, this.#stream, this.#attempt, 0], this.#key);
    return this.#words[this.#taken++ % 4]!;
  }

  /** A whole number in [0, limit); limit is far below 2^32, so that none is noticeably more frequent. */
  below(limit: number): number {
    return Math.floor((this.word() / 2 ** 32) * limit);
  }

  /** The numbers 0 .. count - 1 in some order. */
  order(count: number): number[] {
    const order = Array.from({ length: count }, (_, index) => index);
    for (let last = count - 1; last > 0; last--) {
      const other = this.below(last + 1);
      [order[last], order[other]] = [order[other]!, order[last]!];
    }
    return order;
  }
}
