/** A head for programs that only have to sample something, of the dtype whose kernels compile soonest. Web APIs only. */
import { createSampler, type BackendName, type SampleOptions, type Sampler } from "flash-sampling";

const [VOCAB_SIZE, HIDDEN_SIZE] = [100, 64];

export const SMALL_CALL: SampleOptions = { hiddenStates: new Float32Array(HIDDEN_SIZE).fill(0.125), temperature: 0.7, seed: 42n, position: 1 };

export async function createSmallSampler(backend: BackendName | "auto"): Promise<Sampler> {
  const data = Float32Array.from({ length: VOCAB_SIZE * HIDDEN_SIZE }, (_, index) => ((index * 7919) % 512) / 1024);
  return createSampler({ weights: { data, dtype: "f32", shape: [VOCAB_SIZE, HIDDEN_SIZE] }, backend });
}

export interface SmallOutcome {
  readonly backend?: BackendName;
  readonly tokens?: readonly number[];
  /** what createSampler said, where it failed */
  readonly problem?: string;
}

export async function sampleSmall(backend: BackendName | "auto"): Promise<SmallOutcome> {
  try {
    using sampler = await createSmallSampler(backend);
    return { backend: sampler.backend, tokens: [...(await sampler.sample(SMALL_CALL)).tokens] };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}
