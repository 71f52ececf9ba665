/**
 * JSON from untrusted files: valid UTF-8, an object at the top, no deep nesting, and no key twice.
 * JSON.parse keeps the last of two equal keys, so two readers may see two different files; that is refused here.
 */
import { describe, visible } from "../describe.js";

/** Real documents are less than 20 deep. */
const DEPTH_LIMIT = 64;

/** How many values a kind of file may have at all depths together, and why, for messages. */
export interface ValueLimit {
  readonly values: number;
  readonly why: string;
}

/**
 * @param name the file, for messages
 * @param limit left out: any number of values
 * @throws RangeError when the bytes are not such an object; before it is built, when it is more than 64 deep or has more values
 */
export function parseJsonObject(bytes: Uint8Array, name: string, limit?: ValueLimit): Map<string, unknown> {
  const text = valid(name, () => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  refuseOversize(text, name, limit);
  const value = valid(name, () => JSON.parse(text) as unknown);
  const object = asJsonObject(value);
  if (object === null) throw new RangeError(`"${name}" expected a JSON object, got ${kindOf(value)}`);
  refuseDuplicateKeys(text, name);
  return object;
}

/** The entries of a JSON object, or null for anything else. A Map, so that no key ("__proto__") is special. */
export function asJsonObject(value: unknown): Map<string, unknown> | null {
  return kindOf(value) === "object" ? new Map(Object.entries(value as object)) : null;
}

/** The JSON kind of a parsed value. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function valid<Value>(name: string, read: () => Value): Value {
  try {
    return read();
  } catch (cause) {
    throw new RangeError(`"${name}" expected valid JSON, got: ${visible((cause as Error).message)}`, { cause });
  }
}

/**
 * The text may not be JSON. Inside an array or object each value but the first follows a comma: commas and opening brackets are as many
 * as such values, and one more for each empty array or object.
 */
function refuseOversize(text: string, name: string, limit: ValueLimit | undefined): void {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (code === BRACE_CLOSE || code === BRACKET_CLOSE) depth--;
    else if (code === BRACE_OPEN || code === BRACKET_OPEN) {
      values++;
      if (++depth > DEPTH_LIMIT) throw new RangeError(`"${name}" expected JSON of at most ${DEPTH_LIMIT} levels, got more`);
    }
    if (limit !== undefined && values > limit.values) throw new RangeError(`"${name}" expected at most ${limit.values} JSON values (${limit.why}), got more`);
  }
}

/** Where the string that begins at start ends: at its quote, or with the text. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
  return at;
}

/** The text is known to be valid JSON, so a string followed by a colon is a key of the innermost object. */
function refuseDuplicateKeys(text: string, name: string): void {
  const scopes: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BRACE_OPEN) scopes.push(new Set());
    else if (code === BRACE_CLOSE) scopes.pop();
    else if (code === QUOTE) {
      const start = at;
      at = endOfString(text, at);
      let next = at + 1;
      while (text.charCodeAt(next) <= SPACE) next++;
      if (text.charCodeAt(next) !== COLON) continue;
      const key = JSON.parse(text.slice(start, at + 1)) as string;
      const scope = scopes.at(-1)!;
      if (scope.has(key)) throw new RangeError(`"${name}" expected each JSON key once, got ${describe(key)} twice`);
      scope.add(key);
    }
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const BRACKET_OPEN = 0x5b;
const BRACKET_CLOSE = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;
const SPACE = 0x20;
