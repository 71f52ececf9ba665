/** Tokens that somebody else drew: whole numbers of up to 64 bits, never rounded. */
import { describe } from "../describe.js";
import { ownView, typedArrayKind } from "../typed-arrays.js";
import { isList } from "./values.js";

/** Of any integer type. */
export type TokenArray = Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array | readonly (number | bigint)[];

const KINDS = { Int8Array, Int16Array, Int32Array, BigInt64Array, Uint8Array, Uint16Array, Uint32Array, BigUint64Array };

/**
 * The elements, by the array's own slots; of an array of integers a view. An array of f64 counts as a plain one: its elements may be whole.
 * @throws TypeError, RangeError for what is no array, or for an element that is no whole number of 64 bits
 */
export function readTokens(label: string, tokens: unknown): ArrayLike<number | bigint> {
  const kind = typedArrayKind(tokens);
  if (kind !== undefined && Object.hasOwn(KINDS, kind)) return ownView<Int32Array>(tokens, KINDS[kind as "Int32Array"]);
  if (kind !== "Float64Array" && !isList(tokens)) throw new TypeError(`"${label}" expected an array of integers, got ${describe(tokens)}`);
  return Array.from<unknown, number | bigint>(isList(tokens) ? tokens : ownView(tokens, Float64Array), (token, index) => {
    if (!isWhole(token)) throw new TypeError(`"${label}[${index}]" expected an integer, got ${describe(token)}`);
    if (!(token >= -(2 ** 63) && token < 2 ** 64)) throw new RangeError(`"${label}[${index}]" expected an integer of 64 bits, got ${describe(token)}`);
    return token;
  });
}

const isWhole = (token: unknown): token is number | bigint => typeof token === "bigint" || Number.isInteger(token);

/** Tokens for arithmetic, and as they were given. */
export interface GivenTokens {
  /** past 2^53 the nearest f64 */
  readonly values: Float64Array;
  /** those past 2^53 by their index, in decimal */
  readonly told: ReadonlyMap<number, string>;
}

/** A copy of what readTokens gave. */
export function givenTokens(tokens: ArrayLike<number | bigint>): GivenTokens {
  const told = new Map<number, string>();
  const values = Float64Array.from(tokens, (token, index) => {
    const text = toldToken(token);
    if (typeof text === "string") told.set(index, text);
    return Number(text);
  });
  return { values, told };
}

/** The token as documents have it: a number, or decimal text where a JSON number would be rounded. */
export function toldToken(token: number | bigint): number | string {
  const number = Number(token);
  return Number.isSafeInteger(number) ? number + 0 : String(BigInt(token));
}
