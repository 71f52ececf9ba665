/**
 * Writes out the loops of a shader that run a fixed, small number of times. Drivers do so only up to a size of their own, and
 * an array that is indexed by a loop's counter lives in slow memory until they do.
 */

/**
 * Every `for (var i = 0u; i < NAME; i++) { ... }` whose NAME is in `counts` becomes NAME blocks, with i as a literal in each.
 * The result computes the same.
 */
export function unrollLoops(code: string, counts: Readonly<Record<string, number>>): string {
  const head = new RegExp(`for \\(var (\\w+) = 0u; \\1 < (${Object.keys(counts).join("|")}); \\1\\+\\+\\) \\{`);
  for (let found = head.exec(code); found !== null; found = head.exec(code)) {
    const [text, counter, name] = found as unknown as [string, string, string];
    const start = found.index + text.length;
    const end = closingBrace(code, start);
    const body = code.slice(start, end);
    const copies = Array.from({ length: counts[name]! }, (_, i) => `{${body.replace(new RegExp(`\\b${counter}\\b`, "g"), `${i}u`)}}`);
    code = code.slice(0, found.index) + copies.join("\n") + code.slice(end + 1);
  }
  return code;
}

/** Where the block that is open at `start` ends. */
function closingBrace(code: string, start: number): number {
  for (let at = start, depth = 1; at < code.length; at++) {
    if (code[at] === "{") depth++;
    if (code[at] === "}" && --depth === 0) return at;
  }
  throw new Error('"code" expected a closing brace, got none');
}
