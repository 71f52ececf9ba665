/**
 * The compiled kernels as a file: a fatbin, and behind it its SHA-256 (scripts/build-cuda.mjs). CUDA believes what it reads: a file that
 * was cut ended the process, and one flipped bit gave wrong tokens.
 */

const DIGEST_BYTES = 32;

/** @returns the fatbin, a view @throws Error unless the file is as it was built, to the last bit */
export async function openFatbin(file: Uint8Array): Promise<Uint8Array> {
  const end = Math.max(0, file.length - DIGEST_BYTES);
  const fatbin = file.subarray(0, end);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", fatbin as Uint8Array<ArrayBuffer>));
  const isWhole = file.length > DIGEST_BYTES && file.subarray(end).every((byte, index) => byte === digest[index]);
  if (!isWhole) throw new Error(`the CUDA kernels are damaged (flash-sampling.fatbin: ${file.length} bytes that are not what was built)`);
  return fatbin;
}
