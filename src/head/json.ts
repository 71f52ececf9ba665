/**
 * JSON from untrusted files: valid UTF-8, an object at the top, and no key twice.
 * JSON.parse keeps the last of two equal keys, so two readers may see two different files; that is refused here.
 */
import { describe, visible } from "../describe.js";

/**
 * @param name the file, for messages
 * @throws RangeError when the bytes are not such an object
 */
export function parseJsonObject(bytes: Uint8Array, name: string): Map<string, unknown> {
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    value = JSON.parse(text);
  } catch (cause) {
    throw new RangeError(`"${name}" expected valid JSON, got: ${visible((cause as Error).message)}`, { cause });
  }
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

/** The text is known to be valid JSON, so a string followed by a colon is a key of the innermost object. */
function refuseDuplicateKeys(text: string, name: string): void {
  const scopes: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BRACE_OPEN) scopes.push(new Set());
    else if (code === BRACE_CLOSE) scopes.pop();
    else if (code === QUOTE) {
      const start = at;
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
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
const COLON = 0x3a;
const SPACE = 0x20;
