/** The one list of backends: it drives the automatic choice, the conformance tests, the doctor and the benches. */
import { describe } from "../describe.js";
import type { Backend } from "../backend.js";
import { coreModule, coreObstacle, type CoreVariant } from "../core-module.js";
import { createReferenceBackend } from "./reference.js";
import { createWasmBackend } from "./wasm.js";

export type BackendName = "wasm-relaxed" | "wasm" | "reference";

export interface BackendEntry {
  readonly name: BackendName;
  /** Whether "auto" may choose it. The reference never is: a thousand times slower must be asked for. */
  readonly auto: boolean;
  /** null when it can run here, else the reason why not. */
  probe(): Promise<string | null>;
  create(): Promise<Backend>;
}

/** In the order in which "auto" tries them. */
export const BACKENDS: readonly BackendEntry[] = [
  wasmEntry("wasm-relaxed", "core.relaxed"),
  wasmEntry("wasm", "core"),
  { name: "reference", auto: false, probe: async () => null, create: async () => createReferenceBackend() },
];

function wasmEntry(name: BackendName, variant: CoreVariant): BackendEntry {
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

/** Creates the named backend, or for "auto" the first one that can run here. */
export async function createBackend(name: BackendName | "auto"): Promise<Backend> {
  const candidates = BACKENDS.filter((entry) => (name === "auto" ? entry.auto : entry.name === name));
  if (candidates.length === 0) {
    throw new RangeError(`"backend" expected ${["auto", ...BACKENDS.map((entry) => entry.name)].join(", ")}, got ${describe(name)}`);
  }
  const reasons: string[] = [];
  for (const entry of candidates) {
    const reason = await entry.probe();
    if (reason === null) return entry.create();
    reasons.push(`${entry.name}: ${reason}`);
  }
  throw new Error(`"backend" expected one that runs here, got none (${reasons.join("; ")}); "reference" always runs, slowly`);
}
