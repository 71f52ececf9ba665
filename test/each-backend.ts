/** Tests that every backend is put to. Those of WebGPU are in webgpu.test.ts, all of them: what compiles its kernels is the process. */
import { describe } from "vitest";
import { BACKENDS, type BackendName } from "../src/index.js";
import { unavailable } from "./require.js";

export const BESIDE_WEBGPU: readonly BackendName[] = BACKENDS.map(({ name }) => name).filter((name) => name !== "webgpu");

/** Why a backend does not run here, or null. */
export async function obstacleOf(backend: BackendName): Promise<string | null> {
  return BACKENDS.find(({ name }) => name === backend)!.probe();
}

/** The tests of each backend but WebGPU, skipped by name where it does not run. */
export function describeBackends(title: string, tests: (backend: BackendName) => void): void {
  describe.each(BESIDE_WEBGPU)("%s", async (backend) => {
    describe.skipIf(unavailable(backend, await obstacleOf(backend)))(title, () => tests(backend));
  });
}
