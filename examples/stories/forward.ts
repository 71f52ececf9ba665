/**
 * One step of a Llama-style transformer, up to the hidden state that the LM head multiplies: the head itself is the sampler's.
 * Layout after llama2.c: RMS norm, rotary positions on neighbouring pairs, grouped-query attention, SwiGLU.
 * Every sum has one order and every function comes from maths.ts, so a hidden state is the same bits on every engine.
 * Limit: one sequence, one token at a time, in float32 storage with double sums; no batching, no threads.
 */
import type { Checkpoint, Layer } from "./checkpoint.js";
import { multiply, rmsNorm, rotaryFrequency, silu, sinCos, softmax } from "./maths.js";

/** The state of one sequence: the keys and values of all tokens so far. */
export class Decoder {
  readonly #checkpoint: Checkpoint;
  /** Size of one head's part of a vector. */
  readonly #headSize: number;
  /** [D / heads / 2] angles a position */
  readonly #frequencies: readonly number[];
  /** A layer each, [positions, kvDim]. */
  readonly #keys: readonly Float32Array[];
  readonly #values: readonly Float32Array[];
  readonly #attention: Float64Array;
  #position = 0;

  /** positions: the most tokens this sequence will see, at most the model's sequence length. */
  constructor(checkpoint: Checkpoint, positions: number) {
    const { dim, headCount, kvHeadCount, layerCount } = checkpoint.shape;
    this.#checkpoint = checkpoint;
    this.#headSize = dim / headCount;
    this.#frequencies = Array.from({ length: this.#headSize / 2 }, (_, pair) => rotaryFrequency((2 * pair) / this.#headSize));
    const cache = () => Array.from({ length: layerCount }, () => new Float32Array(positions * this.#headSize * kvHeadCount));
    this.#keys = cache();
    this.#values = cache();
    this.#attention = new Float64Array(positions);
  }

  /** Appends a token and returns the normalised hidden state [D] after it. */
  step(token: number): Float32Array {
    const { shape, tokenEmbedding, layers, finalGain } = this.#checkpoint;
    const x = tokenEmbedding.slice(token * shape.dim, (token + 1) * shape.dim);
    const normalised = new Float32Array(shape.dim);
    layers.forEach((layer, index) => {
      rmsNorm(normalised, x, layer.attentionGain);
      add(x, this.#attend(layer, index, normalised));
      rmsNorm(normalised, x, layer.feedForwardGain);
      add(x, feedForward(layer, shape.hiddenDim, normalised));
    });
    rmsNorm(x, x, finalGain);
    this.#position++;
    return x;
  }

  #attend(layer: Layer, layerIndex: number, x: Float32Array): Float32Array {
    const { headCount, kvHeadCount } = this.#checkpoint.shape;
    const [headSize, position] = [this.#headSize, this.#position];
    const kvDim = headSize * kvHeadCount;
    const keys = this.#keys[layerIndex]!;
    const values = this.#values[layerIndex]!;
    const query = new Float32Array(x.length);
    const key = keys.subarray(position * kvDim, (position + 1) * kvDim);
    multiply(query, layer.query, x);
    multiply(key, layer.key, x);
    multiply(values.subarray(position * kvDim, (position + 1) * kvDim), layer.value, x);
    this.#rotate(query);
    this.#rotate(key);
    const mixed = new Float32Array(x.length);
    for (let head = 0; head < headCount; head++) {
      const kvStart = Math.floor(head / (headCount / kvHeadCount)) * headSize;
      for (let past = 0; past <= position; past++) {
        let sum = 0;
        for (let index = 0; index < headSize; index++) sum += query[head * headSize + index]! * keys[past * kvDim + kvStart + index]!;
        this.#attention[past] = sum / Math.sqrt(headSize);
      }
      softmax(this.#attention, position + 1);
      for (let index = 0; index < headSize; index++) {
        let sum = 0;
        for (let past = 0; past <= position; past++) sum += this.#attention[past]! * values[past * kvDim + kvStart + index]!;
        mixed[head * headSize + index] = sum;
      }
    }
    const out = new Float32Array(x.length);
    multiply(out, layer.attentionOutput, mixed);
    return out;
  }

  /** Turns each neighbouring pair of a head by its frequency times the position. */
  #rotate(vector: Float32Array): void {
    this.#frequencies.forEach((frequency, pair) => {
      const { sin, cos } = sinCos(this.#position * frequency);
      for (let index = 2 * pair; index < vector.length; index += this.#headSize) {
        const [real, imaginary] = [vector[index]!, vector[index + 1]!];
        vector[index] = real * cos - imaginary * sin;
        vector[index + 1] = real * sin + imaginary * cos;
      }
    });
  }
}

function feedForward(layer: Layer, hiddenDim: number, x: Float32Array): Float32Array {
  const gate = new Float32Array(hiddenDim);
  const up = new Float32Array(hiddenDim);
  multiply(gate, layer.gate, x);
  multiply(up, layer.up, x);
  for (let index = 0; index < hiddenDim; index++) gate[index] = silu(gate[index]!) * up[index]!;
  const out = new Float32Array(x.length);
  multiply(out, layer.down, gate);
  return out;
}

function add(x: Float32Array, change: Float32Array): void {
  for (let index = 0; index < x.length; index++) x[index]! += change[index]!;
}
