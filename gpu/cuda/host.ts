/** The CUDA backend: heads and logits on one device. */
import { isMainThread } from "node:worker_threads";
import type { Backend, Candidates, DeviceReport, HeadShape, HeadSink, LogitsBatch } from "../../src/backend.js";
import { CudaDriver } from "./driver.js";
import { createSink } from "./head.js";
import { Sweeper } from "./sweeper.js";

export { GpuError, type GpuErrorKind } from "../gpu-error.js";

interface Opened {
  readonly driver: CudaDriver;
  readonly sweeper: Sweeper;
}

let shared: Promise<Opened> | null = null;

/** The device that all samplers share. A failure is forgotten. */
function openShared(loadFatbin: () => Promise<Uint8Array>): Promise<Opened> {
  if (shared === null) {
    shared = loadFatbin()
      .then((fatbin) => CudaDriver.open(fatbin))
      .then((driver) => {
        // The device is the process's: what a thread that ends has there would stay.
        if (!isMainThread) process.once("exit", () => driver.close());
        return { driver, sweeper: new Sweeper(driver) };
      });
    shared.catch(() => (shared = null));
  }
  return shared;
}

/** null when heads can be sampled here, else the reason why not. */
export async function cudaObstacle(loadFatbin: () => Promise<Uint8Array>): Promise<string | null> {
  return openShared(loadFatbin).then(() => null, (error: Error) => error.message);
}

export async function cudaReport(loadFatbin: () => Promise<Uint8Array>): Promise<DeviceReport> {
  const { driver } = await openShared(loadFatbin);
  return { adapter: driver.description, rungs: {} };
}

export async function createCudaBackend(loadFatbin: () => Promise<Uint8Array>): Promise<Backend> {
  return new CudaBackend(await openShared(loadFatbin));
}

class CudaBackend implements Backend {
  readonly name = "cuda";
  readonly #opened: Opened;

  constructor(opened: Opened) {
    this.#opened = opened;
  }

  /** @throws GpuError "out-of-memory" */
  createHead(shape: HeadShape, scales: Float32Array | null): HeadSink {
    return createSink(this.#opened.driver, this.#opened.sweeper, shape, scales);
  }

  sampleLogits({ logits, vocabSize, request }: LogitsBatch): Promise<Candidates> {
    return this.#opened.sweeper.sampleLogits(logits, vocabSize, request);
  }

  /** The device stays: other samplers use it. */
  dispose(): void {}
}
