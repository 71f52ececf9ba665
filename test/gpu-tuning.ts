/** gpu/webgpu/tuning.ts as it is where the adapter is a GPU, whatever the adapter is: what vi.mock puts in its place. */
type Tuning = typeof import("../gpu/webgpu/tuning.js");

export async function tuningOfGpus(importOriginal: () => Promise<Tuning>): Promise<Tuning> {
  const tuning = await importOriginal();
  return { ...tuning, divisionFor: (rows) => tuning.divisionFor(rows, false), reduceThreads: () => tuning.reduceThreads(false) };
}
