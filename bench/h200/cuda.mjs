/** What the bench needs of CUDA beside the backend's own driver: graphs, clocks, and weights made on the device. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import koffi from "koffi";

const root = fileURLToPath(new URL("../..", import.meta.url));

const CALLS = {
  cuDeviceGet: "int cuDeviceGet(void *device, int ordinal)",
  cuDevicePrimaryCtxRetain: "int cuDevicePrimaryCtxRetain(void *context, int device)",
  cuCtxSetCurrent: "int cuCtxSetCurrent(uint64_t context)",
  cuStreamBeginCapture: "int cuStreamBeginCapture_v2(uint64_t stream, int mode)",
  cuStreamEndCapture: "int cuStreamEndCapture(uint64_t stream, void *graph)",
  cuStreamSynchronize: "int cuStreamSynchronize(uint64_t stream)",
  cuGraphInstantiate: "int cuGraphInstantiateWithFlags(void *executable, uint64_t graph, uint64_t flags)",
  cuGraphLaunch: "int cuGraphLaunch(uint64_t executable, uint64_t stream)",
  cuGraphExecDestroy: "int cuGraphExecDestroy(uint64_t executable)",
  cuGraphDestroy: "int cuGraphDestroy(uint64_t graph)",
  cuEventCreate: "int cuEventCreate(void *event, unsigned int flags)",
  cuEventRecord: "int cuEventRecord(uint64_t event, uint64_t stream)",
  cuEventSynchronize: "int cuEventSynchronize(uint64_t event)",
  cuEventElapsedTime: "int cuEventElapsedTime(void *milliseconds, uint64_t start, uint64_t end)",
  cuModuleLoadData: "int cuModuleLoadData(void *module, void *image)",
  cuModuleGetFunction: "int cuModuleGetFunction(void *function, uint64_t module, const char *name)",
  cuLaunchKernel:
    "int cuLaunchKernel(uint64_t function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, uint64_t stream, void *parameters, void *extra)",
};

/** The fatbin of fill.cu, compiled where it is not there. */
function fillKernels(file = `${root}build/h200/fill.fatbin`) {
  if (!existsSync(file)) {
    mkdirSync(`${root}build/h200`, { recursive: true });
    execFileSync("nvcc", ["--fatbin", "-O3", "-std=c++17", "-gencode", "arch=compute_90a,code=sm_90a", "-o", file, `${root}bench/h200/fill.cu`], { stdio: ["ignore", 2, 2] });
  }
  return readFileSync(file);
}

export class Cuda {
  #stream;
  #calls;
  #fill = new Map();
  #kept = [];

  /** @param driver the backend's: its stream is used here too, and the context that it enters for each call is this thread's from now on */
  constructor(driver, fillFile) {
    this.#stream = driver.stream;
    const library = koffi.load("libcuda.so.1");
    this.#calls = Object.fromEntries(Object.entries(CALLS).map(([name, prototype]) => [name, library.func(prototype)]));
    const device = Number(this.#handle("cuDeviceGet", 0));
    this.#call("cuCtxSetCurrent", this.#handle("cuDevicePrimaryCtxRetain", device));
    const image = fillKernels(fillFile);
    const copy = new Uint8Array(new ArrayBuffer(image.length));
    copy.set(image);
    const module = this.#handle("cuModuleLoadData", copy);
    for (const name of ["fill_rows", "fill_units"]) this.#fill.set(name, this.#handle("cuModuleGetFunction", module, name));
  }

  fill(name, target, rows, columns, isF16, mode) {
    const words = [BigUint64Array.of(target), ...[rows, columns, isF16 ? 1 : 0, mode].map((word) => Uint32Array.of(word, 0))].map((values) => {
      const bytes = new ArrayBuffer(8);
      new values.constructor(bytes).set(values);
      return bytes;
    });
    const pointers = new BigUint64Array(new ArrayBuffer(8 * words.length));
    words.forEach((bytes, i) => (pointers[i] = koffi.address(bytes)));
    this.#kept = words; // addresses alone would not keep them
    this.#call("cuLaunchKernel", this.#fill.get(name), 8192, 1, 1, 256, 1, 1, 0, this.#stream, pointers, null);
    this.#call("cuStreamSynchronize", this.#stream);
  }

  /** A graph of what `work` asks for on the stream: { time(samples), destroy() }. */
  graph(work) {
    this.#call("cuStreamBeginCapture", this.#stream, 2);
    work();
    const graph = this.#handle2("cuStreamEndCapture", this.#stream);
    const executable = this.#handle("cuGraphInstantiate", graph, 0n);
    return {
      time: (samples) => this.#time(executable, samples),
      destroy: () => {
        this.#call("cuGraphExecDestroy", executable);
        this.#call("cuGraphDestroy", graph);
      },
    };
  }

  /** Milliseconds of each launch, all of them queued at once, after some that wake the GPU. */
  #time(executable, samples) {
    const launch = () => this.#call("cuGraphLaunch", executable, this.#stream);
    const started = performance.now();
    for (let i = 0; i < 3 || performance.now() - started < 30; i++) {
      launch();
      this.#call("cuStreamSynchronize", this.#stream);
    }
    const events = Array.from({ length: samples }, () => [this.#handle("cuEventCreate", 0), this.#handle("cuEventCreate", 0)]);
    for (const [start, end] of events) {
      this.#call("cuEventRecord", start, this.#stream);
      launch();
      this.#call("cuEventRecord", end, this.#stream);
    }
    this.#call("cuEventSynchronize", events.at(-1)[1]);
    return events.map(([start, end]) => {
      const written = new Float32Array(new ArrayBuffer(8));
      this.#call("cuEventElapsedTime", written, start, end);
      return written[0];
    });
  }

  #handle(name, ...args) {
    const written = new BigUint64Array(new ArrayBuffer(8));
    this.#call(name, written, ...args);
    return written[0];
  }

  /** The same where the result is the last argument. */
  #handle2(name, ...args) {
    const written = new BigUint64Array(new ArrayBuffer(8));
    this.#call(name, ...args, written);
    return written[0];
  }

  #call(name, ...args) {
    const status = this.#calls[name](...args);
    if (status !== 0) throw new Error(`${name} expected success, got error ${status}`);
  }
}
