/** The arrays of the corpus, unfolded. */
import { encodeNpy } from "../../head/npy.js";
import type { CorpusArray } from "./corpus.js";

/** The patterns of an array, one an element. @throws RangeError for a text that is none, or of another length */
export function wordsOf({ words, shape }: CorpusArray): Uint32Array {
  const result = new Uint32Array(shape.reduce((product, size) => product * size, 1));
  let end = 0;
  // A group, or words outside of groups.
  for (const [part, group, count] of words.matchAll(/\(([^)]*)\)\*(\d+) ?|[^(]+/g)) {
    const items = runsOf(group ?? part);
    for (let repeat = 0; repeat < Number(count ?? 1); repeat++) {
      if (end + items.length > result.length) throw new RangeError(`"words" expected ${result.length} elements, got more`);
      result.set(items, end);
      end += items.length;
    }
  }
  if (end !== result.length) throw new RangeError(`"words" expected ${result.length} elements, got ${end}`);
  return result;
}

function runsOf(text: string): number[] {
  return text.trim().split(" ").flatMap((run) => {
    const parts = /^([0-9a-f]+)(?:\*(\d+))?$/.exec(run);
    if (parts === null) throw new RangeError(`"words" expected hexadecimal patterns, got ${JSON.stringify(run.slice(0, 20))}`);
    return Array<number>(Number(parts[2] ?? 1)).fill(parseInt(parts[1]!, 16));
  });
}

const FORMATS = {
  f32: { descr: "<f4", view: (words: Uint32Array) => new Float32Array(words.buffer) },
  f16: { descr: "<f2", view: (words: Uint32Array) => Uint16Array.from(words) },
  bf16: { descr: "|V2", view: (words: Uint32Array) => Uint16Array.from(words) },
  int8: { descr: "|i1", view: (words: Uint32Array) => Int8Array.from(words) },
  u32: { descr: "<u4", view: (words: Uint32Array) => words },
};

/** f16 and bf16 by their bits. */
export function elementsOf<Dtype extends CorpusArray["dtype"]>(array: CorpusArray & { readonly dtype: Dtype }): ReturnType<(typeof FORMATS)[Dtype]["view"]> {
  return FORMATS[array.dtype].view(wordsOf(array)) as ReturnType<(typeof FORMATS)[Dtype]["view"]>;
}

/** The bytes of its .npy file. */
export function npyOf(array: CorpusArray): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = elementsOf(array);
  return encodeNpy(FORMATS[array.dtype].descr, array.shape, new Uint8Array(buffer, byteOffset, byteLength));
}
