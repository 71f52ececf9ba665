/**
 * A model of two operators, hidden = Tanh(MatMul(input, weights)), as the bytes of an .onnx file. Field numbers are those of
 * the ONNX project's onnx.proto.
 */

const FLOAT = 1; // TensorProto.DataType

/** input: f32 [1, inputSize]; hidden: f32 [1, hiddenSize]; weights: f32 [inputSize, hiddenSize]. */
export function tinyModel(weights, inputSize, hiddenSize) {
  const node = (operator, inputs, output) => message(...inputs.map((name) => text(1, name)), text(2, output), text(4, operator));
  const tensor = message(number(1, inputSize), number(1, hiddenSize), number(2, FLOAT), text(8, "weights"), bytes(9, new Uint8Array(weights.buffer)));
  const graph = message(
    bytes(1, node("MatMul", ["input", "weights"], "product")),
    bytes(1, node("Tanh", ["product"], "hidden")),
    text(2, "tiny"),
    bytes(5, tensor),
    bytes(11, matrixInfo("input", 1, inputSize)),
    bytes(12, matrixInfo("hidden", 1, hiddenSize)),
  );
  const irVersion = 8;
  const operatorSet = message(text(1, ""), number(2, 13));
  return message(number(1, irVersion), bytes(7, graph), bytes(8, operatorSet));
}

function matrixInfo(name, rows, columns) {
  const shape = message(...[rows, columns].map((size) => bytes(1, message(number(1, size)))));
  const tensorType = message(number(1, FLOAT), bytes(2, shape));
  return message(text(1, name), bytes(2, message(bytes(1, tensorType))));
}

// Protocol buffers: each field is its number and kind, then a varint, or a length and so many bytes.

function message(...fields) {
  return Uint8Array.from(fields.flatMap((field) => [...field]));
}

function number(field, value) {
  return [...varint(field << 3), ...varint(value)];
}

function bytes(field, content) {
  return [...varint((field << 3) | 2), ...varint(content.length), ...content];
}

function text(field, content) {
  return bytes(field, new TextEncoder().encode(content));
}

function varint(value) {
  const digits = [];
  for (; value > 127; value = Math.floor(value / 128)) digits.push((value % 128) | 128);
  return [...digits, value];
}
