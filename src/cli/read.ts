/** Matrices from .npy files: a row a request. */
import { readNpyFloats } from "../head/npy.js";
import { openSource, type ByteSource } from "../head/source.js";
import type { TaggedFloats } from "../matrix.js";
import { stdinNpy } from "./stdin.js";

export interface FloatMatrix {
  /** Where it is from, for messages. */
  readonly name: string;
  /** [rowCount, columns], row-major */
  readonly values: TaggedFloats;
  readonly rowCount: number;
  readonly columns: number;
}

/** Opens a .npy file for a reader and closes it. place: a path or URL, or "-" for stdin. */
export async function withArray<Result>(place: string, reader: (source: ByteSource) => Promise<Result>): Promise<Result> {
  const source = await (place === "-" ? stdinNpy() : openSource(place));
  try {
    return await reader(source);
  } finally {
    await source.close();
  }
}

/**
 * place: as above. An array [n] is one row.
 * @throws RangeError unless it is a non-empty floating-point array of one or two dimensions
 */
export async function readMatrix(place: string): Promise<FloatMatrix> {
  return withArray(place, async (source) => {
    const values = await readNpyFloats(source);
    const { shape } = values;
    const [rowCount, columns] = shape.length === 1 ? [1, shape[0]!] : [shape[0] ?? 0, shape[1] ?? 0];
    if (shape.length > 2 || rowCount * columns === 0) {
      throw new RangeError(`"${source.name}" expected shape [B, columns] or [columns] with at least one number, got [${shape.join(", ")}]`);
    }
    return { name: source.name, values, rowCount, columns };
  });
}
