/** Values from outside, whatever they are: looked at without a way to trip. */
import { describe, visible } from "../describe.js";
import { typedArrayKind } from "../typed-arrays.js";

/** Some fields of an object, each read once; none where it is no object, or cannot be read. */
export function fieldsOf<Name extends string>(value: unknown, names: readonly Name[]): { readonly [Key in Name]?: unknown } {
  try {
    return isRecord(value) ? (Object.fromEntries(names.map((name) => [name, value[name]])) as { [Key in Name]?: unknown }) : {};
  } catch {
    return {};
  }
}

/** Whether one can look at it: nothing can be asked of a proxy that was revoked. */
export function isReadable(value: unknown): boolean {
  try {
    Array.isArray(value);
    return true;
  } catch {
    return false;
  }
}

/** An object that is no list: fields of a list are its elements. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !isList(value) && typedArrayKind(value) === undefined;
}

/** Array.isArray that has an answer for proxies that were revoked as well. */
export function isList(value: unknown): value is readonly unknown[] {
  return isReadable(value) && Array.isArray(value);
}

/** What an error says, or what was thrown in its place. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error && typeof thrown.message === "string" ? visible(thrown.message) : describe(thrown);
}

/** At most `limit` UTF-16 units. */
export function checkText(label: string, text: unknown, limit = Infinity): asserts text is string {
  if (typeof text !== "string") throw new TypeError(`"${label}" expected text, got ${describe(text)}`);
  if (text.length > limit) throw new RangeError(`"${label}" expected at most ${limit} characters, got ${text.length}`);
}

/**
 * A copy of a list of texts.
 * @throws TypeError, RangeError for another kind, more than `limit` of them, or an element that is no text
 */
export function readTexts(label: string, texts: unknown, limit: number): string[] {
  if (!isList(texts)) throw new TypeError(`"${label}" expected a list of texts, got ${describe(texts)}`);
  if (texts.length > limit) throw new RangeError(`"${label}" expected at most ${limit} texts, got ${texts.length}`);
  return Array.from(texts, (text, index) => {
    checkText(`${label}[${index}]`, text);
    return text;
  });
}
