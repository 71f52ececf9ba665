/** The command that made a document, to be typed again. */
import { textOf, type Html } from "./html.js";

/** words: options whose value is null are left out. */
export function commandLine(verb: string, options: readonly (readonly [option: string, value: string | readonly string[] | null])[], rest: readonly string[] = []): Html {
  const words = options.flatMap(([option, value]) => (value === null ? [] : [option, ...(typeof value === "string" ? [value] : value)]));
  return textOf(["flash-sampling", verb, ...[...words, ...rest].map(quoted)].join(" "));
}

/** As a POSIX shell reads it. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A page that is passed on need not tell in which folders files lay. */
export function fileName(place: string): string {
  return place.replace(/[/\\]+$/, "").replace(/.*[/\\]/s, "") || place;
}
