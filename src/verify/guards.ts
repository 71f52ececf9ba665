/** Checks of what callers hand to the verifying library, beside those of src/arguments.ts: kinds first, then values, and each by its name. */
import { checkOptions } from "../arguments.js";
import { describe } from "../describe.js";
import { typedArrayKind } from "../typed-arrays.js";
import { isList, isReadable, isRecord, messageOf } from "./values.js";

/** Options that may also be said to be undefined: readOptions leaves those out. */
export type OrUndefined<Options> = { readonly [Name in keyof Options]: object extends Pick<Options, Name> ? Options[Name] | undefined : Options[Name] };

/**
 * A copy of the options, each read once: what checks have seen is what is used. Undefined ones are left out.
 * label: of the object they are in
 * @throws TypeError unless options is an object with known names alone, all of which can be read
 */
export function readOptions<Options extends object>(options: Options, known: readonly string[], label = "options"): Options {
  if (!isRecord(options)) throw new TypeError(`"${label}" expected an object with ${known[0]}, got ${describe(options)}`);
  const entries = readEntries(options, known, label);
  checkOptions(options, known, label);
  const revoked = entries.find(([, value]) => !isReadable(value));
  if (revoked !== undefined) throw new TypeError(`"${revoked[0]}" expected a value that can be read, got a proxy that was revoked`);
  return Object.fromEntries(entries) as Options;
}

function readEntries(options: Readonly<Record<string, unknown>>, known: readonly string[], label: string): [name: string, value: unknown][] {
  try {
    Object.keys(options);
    return known.map((name): [string, unknown] => [name, options[name]]).filter(([, value]) => value !== undefined);
  } catch (cause) {
    throw new TypeError(`"${label}" expected fields that can be read, got an error: ${messageOf(cause)}`, { cause });
  }
}

/** @throws TypeError unless it is an AbortSignal, or undefined */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  if (signal === undefined || typeof (signal as AbortSignal | null)?.throwIfAborted === "function") return;
  throw new TypeError(`"signal" expected an AbortSignal, got ${describe(signal)}`);
}

/**
 * Runs work that a signal ends: once it is aborted its reason comes out, whatever the work made of it.
 * @throws the signal's reason; what the work throws
 */
export async function abortable<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result> {
  signal?.throwIfAborted();
  try {
    return await work();
  } finally {
    signal?.throwIfAborted();
  }
}

/** @throws TypeError unless it is a function, or undefined */
export function checkCallback(label: string, callback: unknown): void {
  if (callback !== undefined && typeof callback !== "function") throw new TypeError(`"${label}" expected a function, got ${describe(callback)}`);
}

/** A number in [from, to]. */
export function checkNumber(label: string, value: unknown, from: number, to: number): asserts value is number {
  if (typeof value !== "number") throw new TypeError(`"${label}" expected a number from ${from} to ${to}, got ${describe(value)}`);
  if (!(value >= from && value <= to)) throw new RangeError(`"${label}" expected a number from ${from} to ${to}, got ${value}`);
}

/** @throws TypeError, RangeError unless it is an array of numbers, plain or typed, with so many elements. Its elements are the caller's to check. */
export function checkColumn(label: string, values: unknown, rows: number): asserts values is ArrayLike<unknown> {
  if (!isList(values) && typedArrayKind(values) === undefined) throw new TypeError(`"${label}" expected an array with one a row, got ${describe(values)}`);
  const { length } = values as ArrayLike<unknown>;
  if (length !== rows) throw new RangeError(`"${label}" expected ${rows} values, one a row, got ${length}`);
}
