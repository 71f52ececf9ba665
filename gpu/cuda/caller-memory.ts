/** Pointers and streams of callers, checked before they are used: a wrong one would end all CUDA work of the process. */
import type { CudaDriver } from "./driver.js";

/** @throws RangeError unless so many bytes at the pointer are memory of the device */
export function assertMemory(driver: CudaDriver, name: string, pointer: bigint, bytes: number): void {
  const memory = driver.memoryAt(pointer);
  if (memory === null) throw new RangeError(`"${name}" expected memory of the CUDA device, got 0x${pointer.toString(16)}, which is none`);
  const room = memory.end - pointer;
  if (room < BigInt(bytes)) throw new RangeError(`"${name}" expected ${bytes} bytes of memory, got ${room} from 0x${pointer.toString(16)} on`);
}

/** @throws RangeError unless work can be put in order with the stream */
export function assertStream(driver: CudaDriver, stream: bigint): void {
  const obstacle = driver.streamObstacle(stream);
  if (obstacle !== null) throw new RangeError(`"stream" expected ${obstacle}`);
}
