/** Values in error messages: what came, in a few words, whatever it is. */
import { typedArrayKind } from "./typed-arrays.js";

/** What came, for an error: short, and never a value that could throw on its way to text. */
export function describe(value: unknown): string {
  if (value === null) return "null";
  switch (typeof value) {
    case "object":
      return typedArrayKind(value) ?? /^\[object ([\w $.-]{1,40})\]$/.exec(tagOf(value))?.[1] ?? "an object";
    case "string":
      return quoted(value.length > TEXT_LIMIT ? `${value.slice(0, TEXT_LIMIT)}...` : value);
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

/** What a terminal obeys instead of showing it: control and format characters, line ends, halves of pairs. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** As JSON, with escapes for all that does not show. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(INVISIBLE, (character) => Array.from({ length: character.length }, (_, unit) => `\\u${hex(character.charCodeAt(unit), 4)}`).join(""));
}

/** Text of others inside of a message, in full: what does not show, and so could hide or move what stands beside it, is told by its number. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (character) => {
    const code = character.codePointAt(0)!;
    return code < 256 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 1)}}`;
  });
}

/** The same between the quotes that name an argument, which it cannot close. */
export function labelText(text: string): string {
  return visible(text).replaceAll('"', "\\x22");
}

const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, "0");

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
