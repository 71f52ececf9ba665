/** Values in error messages: what came, in a few words, whatever it is. */
import { typedArrayKind } from "./typed-arrays.js";

/** What came, for an error: short, and never a value that could throw on its way to text. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "object":
      return typedArrayKind(value) ?? (Array.isArray(value) ? "Array" : /^\[object (.{1,40})\]$/.exec(tagOf(value))?.[1]) ?? "an object";
    case "string":
      return JSON.stringify(value.length > TEXT_LIMIT ? `${value.slice(0, TEXT_LIMIT)}...` : value);
    case "bigint":
      // A bigint of a million digits takes seconds to print.
      return value >= -(1n << 256n) && value <= 1n << 256n ? `${value}n` : "a bigint of more than 256 bits";
    case "function":
    case "symbol":
      return `a ${typeof value}`;
    default:
      return Object.is(value, -0) ? "-0" : String(value);
  }
}

/** Names of tensors and files may come from anywhere: an error shows so much of them. */
const TEXT_LIMIT = 80;

function tagOf(value: object): string {
  try {
    return Object.prototype.toString.call(value);
  } catch {
    return "";
  }
}

/** A name out of a file: as it is when it is plain, else quoted, escaped and cut, so that it cannot pass for more than a name. */
export function nameText(name: string): string {
  return /^[\w.:/<>|-]{1,80}$/.test(name) ? name : describe(name);
}
