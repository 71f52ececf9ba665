/** Which tokens of a row may be drawn at all: what a mask allows, and no padding. */
import { checkInteger } from "../../arguments.js";
import { describe } from "../../describe.js";
import { ownView, typedArrayKind } from "../../typed-arrays.js";
import type { Fault } from "../documents.js";

export interface TokenMask {
  /**
   * Uint32Array: words [rowCount, ceil(V / 32)], bit token % 32 of word token / 32 is 1 for allowed tokens. Uint8Array: [rowCount, V], not 0 for
   * allowed tokens. What is padding may be left out of all rows.
   */
  readonly data: Uint32Array | Uint8Array;
  /** 1: it serves all rows */
  readonly rowCount: number;
}

export class Vocabulary {
  readonly size: number;
  /** tokens from it on are padding */
  readonly limit: number;
  readonly #mask: Uint32Array | Uint8Array | null = null;
  #hasWords = false;
  /** from one row to the next; 0 where one row serves all */
  #stride = 0;

  /** @throws TypeError, RangeError for a limit or mask that does not suit */
  constructor(size: number, limit: number, rowCount: number, mask: TokenMask | undefined) {
    checkInteger("unpaddedSize", limit, 1, size + 1);
    this.size = size;
    this.limit = limit;
    if (mask === undefined) return;
    const kind = typedArrayKind(mask?.data);
    if (kind !== "Uint32Array" && kind !== "Uint8Array") throw new TypeError(`"mask.data" expected a Uint32Array of words or a Uint8Array, got ${describe(mask?.data)}`);
    if (mask.rowCount !== 1 && mask.rowCount !== rowCount) throw new RangeError(`"mask" expected 1 or ${rowCount} rows, got ${describe(mask.rowCount)}`);
    this.#mask = kind === "Uint32Array" ? ownView(mask.data, Uint32Array) : ownView(mask.data, Uint8Array);
    this.#hasWords = kind === "Uint32Array";
    const width = this.#mask.length / mask.rowCount;
    this.#checkWidth(width);
    this.#stride = mask.rowCount === 1 ? 0 : width;
  }

  #checkWidth(width: number): void {
    const widths = [this.size, this.limit].map((tokens) => (this.#hasWords ? Math.ceil(tokens / 32) : tokens));
    if (widths.includes(width)) return;
    throw new RangeError(`"mask" expected ${[...new Set(widths)].join(" or ")} ${this.#hasWords ? "words of 32 tokens" : "values"} a row, got ${width}`);
  }

  /** Whether there is anything to it. */
  get isWhole(): boolean {
    return this.#mask === null && this.limit === this.size;
  }

  isAllowed(row: number, token: number): boolean {
    return token < this.limit && this.#isUnmasked(row, token);
  }

  #isUnmasked(row: number, token: number): boolean {
    if (this.#mask === null) return true;
    const at = row * this.#stride;
    return this.#hasWords ? ((this.#mask[at + (token >>> 5)]! >>> (token & 31)) & 1) === 1 : this.#mask[at + token] !== 0;
  }

  /** Why a row's token cannot be drawn; null where it can. token: any integer. */
  faultOf(row: number, token: number): Fault | null {
    if (token < 0) return "negative";
    if (token >= this.size) return "out-of-range";
    if (token >= this.limit) return "padded";
    return this.#isUnmasked(row, token) ? null : "masked";
  }
}
