/** The one list of backends: it drives the automatic choice, the tests of backends, the doctor and the demo. */
import { describe } from "../describe.js";
import type { Backend, Candidates, DeviceReport, HeadSink, LogitsBatch } from "../backend.js";
import { coreModule, coreObstacle, type CoreVariant } from "../core-module.js";
import { createCuda, cudaObstacle, cudaReport } from "../cuda-platform.js";
import { createReferenceBackend } from "./reference.js";
import { createWebgpu, webgpuDrawback, webgpuObstacle, webgpuReport } from "../gpu-platform.js";
import { createWasmBackend } from "./wasm.js";

interface Entry<Name extends string> {
  readonly name: Name;
  /** Whether "auto" may choose it. The reference never is: a thousand times slower must be asked for. */
  readonly auto: boolean;
  /** false where logits that lie in memory are sampled faster by a later one: "auto" then passes it by for them. */
  readonly autoForLogits?: false;
  /** null when it can run here, else the reason why not. */
  probe(): Promise<string | null>;
  /** null when it also is worth it: what "auto" asks where this differs from probe(). */
  autoProbe?(): Promise<string | null>;
  create(): Promise<Backend>;
  /** What is known of a device that it runs on, now that it ran. */
  report?(): Promise<DeviceReport>;
}

const LIST = [
  cudaEntry("cuda"),
  webgpuEntry("webgpu"),
  wasmEntry("wasm-relaxed", "core.relaxed"),
  wasmEntry("wasm", "core"),
  referenceEntry("reference"),
] as const;

export type BackendName = (typeof LIST)[number]["name"];
export type BackendEntry = Entry<BackendName>;

/** In the order in which "auto" tries them. */
export const BACKENDS: readonly BackendEntry[] = LIST;

function cudaEntry<const Name extends string>(name: Name): Entry<Name> {
  return { name, auto: true, autoForLogits: false, probe: cudaObstacle, create: createCuda, report: cudaReport };
}

function webgpuEntry<const Name extends string>(name: Name): Entry<Name> {
  return { name, auto: true, autoForLogits: false, probe: webgpuObstacle, autoProbe: webgpuDrawback, create: createWebgpu, report: webgpuReport };
}

function wasmEntry<const Name extends string>(name: Name, variant: CoreVariant): Entry<Name> {
  return {
    name,
    auto: true,
    async probe() {
      const obstacle = coreObstacle(variant);
      if (obstacle !== null) return obstacle;
      return coreModule(variant).then(
        () => null,
        (error: Error) => error.message,
      );
    },
    create: async () => createWasmBackend({ name, module: await coreModule(variant) }),
  };
}

function referenceEntry<const Name extends string>(name: Name): Entry<Name> {
  return { name, auto: false, probe: async () => null, create: async () => createReferenceBackend() };
}

/**
 * Creates the named backend, or for "auto" the first one that can run here and, once it is used, does not find itself wrong.
 * @param use what it is for; a head's backend samples logits as well
 */
export async function createBackend(name: BackendName | "auto", use: "head" | "logits" = "head"): Promise<Backend> {
  const isChosen = (entry: BackendEntry): boolean => entry.auto && (use === "head" || entry.autoForLogits !== false);
  const candidates = BACKENDS.filter((entry) => (name === "auto" ? isChosen(entry) : entry.name === name));
  if (candidates.length === 0) {
    throw new RangeError(`"backend" expected ${["auto", ...BACKENDS.map((entry) => entry.name)].join(", ")}, got ${describe(name)}`);
  }
  const reasons: string[] = [];
  const next = async (): Promise<Backend> => {
    for (let entry = candidates.shift(); entry !== undefined; entry = candidates.shift()) {
      const reason = await (name === "auto" && entry.autoProbe ? entry.autoProbe() : entry.probe());
      if (reason === null) return entry.create();
      reasons.push(`${entry.name}: ${reason}`);
    }
    const hint = reasons.some((reason) => reason.startsWith("wasm")) ? `. ${HINT}` : "";
    throw new Error(`"backend" expected one that runs here, got none (${reasons.join("; ")})${hint}`);
  };
  const first = await next();
  if (name !== "auto") return first;
  return new AutomaticBackend(first, (wrong, reason) => {
    reasons.push(`${wrong}: ${reason}`);
    return next();
  });
}

/** The backend of "auto": one that finds that it gives wrong answers makes room for the next. */
class AutomaticBackend implements Backend {
  #backend: Backend;
  #change: Promise<void> | null = null;
  readonly #next: (wrong: string, reason: string) => Promise<Backend>;

  constructor(backend: Backend, next: (wrong: string, reason: string) => Promise<Backend>) {
    this.#backend = backend;
    this.#next = next;
  }

  get name(): string {
    return this.#backend.name;
  }

  createHead(...head: Parameters<Backend["createHead"]>): Promise<HeadSink> {
    return this.#onRight((backend) => backend.createHead(...head));
  }

  sampleLogits(batch: LogitsBatch): Promise<Candidates> {
    return this.#onRight((backend) => backend.sampleLogits(batch));
  }

  dispose(): void {
    this.#backend.dispose();
  }

  async #onRight<Result>(work: (backend: Backend) => Result | Promise<Result>): Promise<Result> {
    for (;;) {
      const tried = this.#backend;
      try {
        return await work(tried);
      } catch (error) {
        // By its kind: the class of a GPU's errors is loaded with the GPU's code.
        if ((error as { kind?: unknown }).kind !== "wrong-bits") throw error;
        // Calls at the same time find out together, and only one backend is to make room.
        if (this.#backend === tried) await (this.#change ??= this.#goOn(tried, (error as Error).message));
      }
    }
  }

  async #goOn(wrong: Backend, reason: string): Promise<void> {
    try {
      wrong.dispose();
      this.#backend = await this.#next(wrong.name, reason);
    } finally {
      this.#change = null;
    }
  }
}

const HINT = 'Where a bundler lost the .wasm files, init() takes one (README, "Bundlers"); "reference" always runs, slowly';
