/** Pointers and streams of callers, checked before they are used: a wrong one would end all CUDA work of the process. */
import type { CudaDriver, MappedMemory } from "./driver.js";

/** What the device does with memory. */
type Use = "read" | "write";

/** @throws RangeError unless so many bytes at the pointer are memory of the device that it may use so */
export function assertMemory(driver: CudaDriver, name: string, pointer: bigint, bytes: number, use: Use): void {
  const first = driver.memoryAt(pointer);
  const address = `0x${pointer.toString(16)}`;
  if (first === null) throw new RangeError(`"${name}" expected memory of the CUDA device, got ${address}, which is none`);
  if (!allows(first, use)) throw new RangeError(`"${name}" expected memory that the CUDA device may ${use}, got ${address}, which it may not`);
  let { end, goesOn } = first;
  while (goesOn && end < pointer + BigInt(bytes)) {
    const next = driver.memoryAt(end);
    if (next === null || !allows(next, use)) break;
    ({ end, goesOn } = next);
  }
  const room = end - pointer;
  if (room < BigInt(bytes)) throw new RangeError(`"${name}" expected ${bytes} bytes of memory, got ${room} from ${address} on`);
}

function allows({ isReadable, isWritable }: MappedMemory, use: Use): boolean {
  return use === "read" ? isReadable : isWritable;
}

/** @throws RangeError unless work can be put in order with the stream */
export function assertStream(driver: CudaDriver, stream: bigint): void {
  // CUDA looks behind the handle: other memory than a stream's may end the process.
  const obstacle = driver.memoryAt(stream) === null ? driver.streamObstacle(stream) : "a CUstream, got memory of the device";
  if (obstacle !== null) throw new RangeError(`"stream" expected ${obstacle}`);
}
