/** A hidden state goes from an ONNX session to the sampler inside one GPU device; only the tokens come back. */
import { createSampler } from "flash-sampling";
import * as ort from "onnxruntime-web/webgpu";
import { tinyModel } from "./model.js";

const [inputSize, hiddenSize, vocabSize] = [16, 64, 1000];
/** Whole numbers over 1000, from -1 to 1. */
const numbers = (length, factor) => Float32Array.from({ length }, (_, index) => ((index * factor) % 2001) / 1000 - 1);
const headWeights = { data: numbers(vocabSize * hiddenSize, 7919), dtype: "f32", shape: [vocabSize, hiddenSize] };
const call = { seed: 42n, numSamples: 12 };

try {
  const model = tinyModel(numbers(inputSize * hiddenSize, 104729), inputSize, hiddenSize);
  const session = await ort.InferenceSession.create(model, { executionProviders: ["webgpu"], preferredOutputLocation: "gpu-buffer" });

  const device = await ort.env.webgpu.device;
  const sampler = await createSampler({ weights: headWeights, device });

  const { hidden } = await session.run({ input: new ort.Tensor("float32", numbers(inputSize, 31), [1, inputSize]) });
  const { tokens } = await sampler.sample({ hiddenStates: { buffer: hidden.gpuBuffer, dtype: "f32", shape: hidden.dims }, ...call });
  step(`${sampler.backend} drew from the session's ${hidden.location}: ${tokens.join(" ")}`);

  // For comparison only: the same hidden state by way of memory, on another backend.
  const inMemory = await createSampler({ weights: headWeights, backend: "wasm" });
  const copied = await inMemory.sample({ hiddenStates: await hidden.getData(), ...call });
  step(`${inMemory.backend} drew from a copy in memory: ${copied.tokens.join(" ")}`);

  hidden.dispose();
  const isSame = tokens.every((token, index) => token === copied.tokens[index]);
  document.querySelector("#status").textContent = isSame ? "The same tokens twice." : "The tokens differ.";
} catch (error) {
  document.querySelector("#status").textContent = `Failed: ${error.message}`;
}

function step(text) {
  const item = document.createElement("li");
  item.textContent = text;
  document.querySelector("#steps").append(item);
}
