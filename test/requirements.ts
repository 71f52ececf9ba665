/** The names of all that a machine may lack: what REQUIRE accepts and what a test may skip for. */
export const REQUIREMENTS = [
  // backends, as in src/backends/list.ts
  "cuda", // an NVIDIA GPU, its driver, and kernels that npm run build:cuda made
  "wasm",
  "wasm-relaxed",
  "reference",
  "webgpu", // through the package webgpu in Node
  // runtimes that the packed package runs in
  "node20",
  "node20-relaxed", // with --experimental-wasm-relaxed-simd
  "node24",
  "deno",
  "bun",
  "workerd",
  "chromium",
  // WebGPU in runtimes that bring their own
  "chromium-webgpu",
  "deno-webgpu",
  // other programs and data
  "c++", // a C++ compiler, for the CUDA twins on the host
  "python", // python3, 3.9 or newer, for the second implementation
  "shared", // ../shared beside the checkout, or FLASH_SAMPLING_SHARED
] as const;

export type Requirement = (typeof REQUIREMENTS)[number];

/** The names in REQUIRE, a list with commas. */
export function readRequired(list: string | undefined): ReadonlySet<Requirement> {
  const names = (list ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
  const unknown = names.find((name) => !REQUIREMENTS.some((known) => known === name));
  if (unknown !== undefined) {
    throw new RangeError(`"REQUIRE" expected names from ${REQUIREMENTS.join(", ")}, got ${JSON.stringify(unknown)}`);
  }
  return new Set(names as Requirement[]);
}
