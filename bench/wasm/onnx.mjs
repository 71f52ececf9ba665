/** onnxruntime's MatMul [B, D] x [D, V] in f32, without any sampling: what the WebAssembly kernels are measured against. */

/** A run function for B rows, or null with the reason printed when the package is not installed. */
export async function createMatMul(packageName, vocabSize, hiddenSize) {
  let runtime;
  try {
    runtime = await import(packageName);
  } catch (error) {
    console.log(`${packageName}: skipped, ${error.code ?? error.message} (npm ci --prefix bench)`);
    return null;
  }
  runtime = runtime.InferenceSession === undefined ? runtime.default : runtime;
  if (packageName.startsWith("onnxruntime-web")) runtime.env.wasm.numThreads = 1;
  const weights = Float32Array.from({ length: hiddenSize * vocabSize }, (_, index) => ((index * 2654435761) >>> 16) / 65536 - 0.25);
  const session = await runtime.InferenceSession.create(matMulModel(weights, vocabSize, hiddenSize), { intraOpNumThreads: 1, interOpNumThreads: 1 });
  return async (hiddenStates) => {
    const rows = hiddenStates.length / hiddenSize;
    await session.run({ X: new runtime.Tensor("float32", hiddenStates, [rows, hiddenSize]) });
  };
}

/** The protobuf bytes of a model with one MatMul, its weights an initializer. */
function matMulModel(weights, vocabSize, hiddenSize) {
  const varint = (value) => {
    const bytes = [];
    for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128);
    return [...bytes, value];
  };
  const integer = (field, value) => [...varint(field * 8), ...varint(value)];
  const header = (field, length) => [...varint(field * 8 + 2), ...varint(length)];
  const nested = (field, bytes) => [...header(field, bytes.length), ...bytes];
  const text = (field, value) => nested(field, [...new TextEncoder().encode(value)]);
  const tensorType = (name, width) => {
    const shape = [...nested(1, text(2, "B")), ...nested(1, integer(1, width))];
    return [...text(1, name), ...nested(2, nested(1, [...integer(1, 1), ...nested(2, shape)]))];
  };
  const node = [...text(1, "X"), ...text(1, "W"), ...text(2, "Y"), ...text(4, "MatMul")];
  const raw = new Uint8Array(weights.buffer);
  const tensor = [...integer(1, hiddenSize), ...integer(1, vocabSize), ...integer(2, 1), ...text(8, "W"), ...header(9, raw.length)];
  const before = [...nested(1, node), ...text(2, "g"), ...header(5, tensor.length + raw.length), ...tensor];
  const after = [...nested(11, tensorType("X", hiddenSize)), ...nested(12, tensorType("Y", vocabSize))];
  const start = [...integer(1, 8), ...header(7, before.length + raw.length + after.length), ...before];
  const end = [...after, ...nested(8, [...text(1, ""), ...integer(2, 17)])];
  const model = new Uint8Array(start.length + raw.length + end.length);
  model.set(start);
  model.set(raw, start.length);
  model.set(end, start.length + raw.length);
  return model;
}
