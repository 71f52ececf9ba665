/** One row of a head, a token's, read alone. */
import { DTYPE_BYTES } from "../backend.js";
import { weightsIn, type Head } from "../spec/logit.js";
import type { HeadReader } from "./head-reader.js";

/** As a head of one token; its weights as they are stored. */
export async function readTokenRow(reader: HeadReader, token: number, signal?: AbortSignal): Promise<Head> {
  const { dtype, vocabSize, hiddenSize, groupSize } = reader.shape;
  const bytes = new Uint8Array(hiddenSize * DTYPE_BYTES[dtype]);
  await reader.readRows(token, bytes, signal);
  const groups = reader.scales === null ? 0 : reader.scales.length / vocabSize;
  const rowScales = reader.scales?.subarray(token * groups, (token + 1) * groups);
  return { dtype, vocabSize: 1, hiddenSize, groupSize, weights: weightsIn(bytes.buffer, dtype), ...(rowScales && { scales: rowScales }) };
}
