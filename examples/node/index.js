/** The shortest use: a head in memory, one hidden state, eight draws. */
import { createSampler } from "flash-sampling";

const [vocabSize, hiddenSize] = [1000, 64];
const weights = Float32Array.from({ length: vocabSize * hiddenSize }, (_, index) => ((index * 7919) % 2001) / 1000 - 1);
const hiddenStates = Float32Array.from({ length: hiddenSize }, (_, index) => ((index * 104729) % 2001) / 1000 - 1);

const sampler = await createSampler({ weights: { data: weights, dtype: "f32", shape: [vocabSize, hiddenSize] } });
const { tokens } = await sampler.sample({ hiddenStates, seed: 1, numSamples: 8 });
console.log(sampler.backend, tokens.join(" "));
