/** Results on stdout, piece by piece: no string of all of it, and never faster than the reader reads. */
import { once } from "node:events";

/** Characters that are gathered before they are written. */
const CHUNK = 1 << 16;

/** Resolves once the last piece is on its way. Whoever closes the pipe early ends the process: see endQuietlyOnClosedPipe. */
export async function print(pieces: Iterable<string>): Promise<void> {
  let chunk = "";
  for (const piece of pieces) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
    chunk = "";
  }
  process.stdout.write(chunk);
}

/** A JSON object: the fields of head, then one list, whose items are made as they are printed, then the fields of tail. */
export function* jsonPieces(head: object, list: string, items: Iterable<Iterable<string>>, tail: object = {}): Generator<string> {
  yield `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(list)}:`;
  yield* jsonList(items);
  for (const [name, value] of Object.entries(tail)) yield `,${JSON.stringify(name)}:${JSON.stringify(value)}`;
  yield "}\n";
}

/** A JSON list of items that are JSON already, each in one or more pieces. */
export function* jsonList(items: Iterable<Iterable<string>>): Generator<string> {
  let separator = "[";
  for (const item of items) {
    yield separator;
    yield* item;
    separator = ",";
  }
  yield separator === "[" ? "[]" : "]";
}
