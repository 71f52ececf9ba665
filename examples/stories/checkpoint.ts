/**
 * Reads a llama2.c checkpoint, the first version of the format (github.com/karpathy/llama2.c, export.py "version 0"):
 * seven int32, then float32 tensors one after the other, all little-endian, without a magic number.
 * The file is untrusted: its header must account for every byte of it before anything is allocated.
 * Limit: views the floats in place, so the machine must be little-endian, as every JavaScript runtime's is today.
 */
import { open, stat } from "node:fs/promises";

export const HEADER_BYTES = 28;

export interface ModelShape {
  /** D, the size of a hidden state */
  readonly dim: number;
  /** The width of the feed-forward layers. */
  readonly hiddenDim: number;
  readonly layerCount: number;
  readonly headCount: number;
  /** Key and value heads; several query heads share one. */
  readonly kvHeadCount: number;
  readonly vocabSize: number;
  /** The most positions the model was trained for. */
  readonly sequenceLength: number;
  /** Whether the LM head is the token embedding. */
  readonly sharedHead: boolean;
}

/** The weights of one layer; each matrix is [outputs, inputs]. */
export interface Layer {
  readonly attentionGain: Float32Array;
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  readonly attentionOutput: Float32Array;
  readonly feedForwardGain: Float32Array;
  /** w1, w2 and w3: out = down(silu(gate(x)) * up(x)) */
  readonly gate: Float32Array;
  readonly down: Float32Array;
  readonly up: Float32Array;
}

export interface Checkpoint {
  readonly shape: ModelShape;
  /** [V, D] */
  readonly tokenEmbedding: Float32Array;
  readonly layers: readonly Layer[];
  readonly finalGain: Float32Array;
  /** [V, D]: the LM head */
  readonly head: Float32Array;
}

const HEADER_NAMES = ["dim", "hidden_dim", "n_layers", "n_heads", "n_kv_heads", "vocab_size", "seq_len"] as const;

/**
 * Reads a checkpoint from a local file.
 * @throws RangeError when the file is no such checkpoint; the platform's error when it cannot be read
 */
export async function readCheckpoint(path: string): Promise<Checkpoint> {
  // Before opening: opening a pipe would wait for its other end.
  if (!(await stat(path)).isFile()) throw new RangeError(`"${path}" expected a file, got something else`);
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    const header = new Uint8Array(HEADER_BYTES);
    const { bytesRead } = await file.read(header, 0, HEADER_BYTES, 0);
    const shape = parseHeader(header.subarray(0, bytesRead), size, path);
    const floats = new Uint8Array(size - HEADER_BYTES);
    for (let done = 0; done < floats.length; ) {
      const { bytesRead: more } = await file.read(floats, done, Math.min(floats.length - done, READ_LIMIT), HEADER_BYTES + done);
      if (more === 0) throw new RangeError(`"${path}" expected ${size} bytes as when it was opened, got ${HEADER_BYTES + done}`);
      done += more;
    }
    return sliceTensors(shape, new Float32Array(floats.buffer));
  } finally {
    await file.close();
  }
}

/** Bytes of one read: well below the 2 GiB that some systems refuse. */
const READ_LIMIT = 1 << 28;

/**
 * The shape in the first 28 bytes of a file of fileSize bytes.
 * @throws RangeError naming the first field that cannot be, or the size the header promises
 */
export function parseHeader(header: Uint8Array, fileSize: number, name: string): ModelShape {
  if (header.length < HEADER_BYTES) throw new RangeError(`"${name}" expected a header of ${HEADER_BYTES} bytes, got ${header.length}`);
  const view = new DataView(header.buffer, header.byteOffset, HEADER_BYTES);
  const fields = HEADER_NAMES.map((field, index) => {
    const stored = view.getInt32(4 * index, true);
    // A negative vocabulary says that the head is stored of its own.
    const value = field === "vocab_size" ? Math.abs(stored) : stored;
    if (value < 1) throw new RangeError(`"${name}" expected a positive ${field}, got ${stored}`);
    return value;
  }) as [number, number, number, number, number, number, number];
  const [dim, hiddenDim, layerCount, headCount, kvHeadCount, vocabSize, sequenceLength] = fields;
  if (dim % headCount !== 0) throw new RangeError(`"${name}" expected n_heads to divide dim ${dim}, got ${headCount}`);
  if ((dim / headCount) % 2 !== 0) throw new RangeError(`"${name}" expected an even head size for rotary pairs, got ${dim / headCount}`);
  if (headCount % kvHeadCount !== 0) throw new RangeError(`"${name}" expected n_kv_heads to divide n_heads ${headCount}, got ${kvHeadCount}`);
  const shape = { dim, hiddenDim, layerCount, headCount, kvHeadCount, vocabSize, sequenceLength, sharedHead: view.getInt32(20, true) > 0 };
  // A product past 2^53 is rounded, but then it is past the size of any file as well.
  const expected = HEADER_BYTES + 4 * Object.values(tensorSizes(shape)).reduce((total, { count, size }) => total + count * size, 0);
  if (expected !== fileSize) throw new RangeError(`"${name}" expected ${expected} bytes, as its header says, got ${fileSize}`);
  return shape;
}

/** The tensors in file order: count of one size each, in floats. */
function tensorSizes({ dim, hiddenDim, layerCount, headCount, kvHeadCount, vocabSize, sequenceLength, sharedHead }: ModelShape) {
  const kvDim = (dim / headCount) * kvHeadCount;
  const once = (size: number) => ({ count: 1, size });
  const perLayer = (size: number) => ({ count: layerCount, size });
  return {
    tokenEmbedding: once(vocabSize * dim),
    attentionGain: perLayer(dim),
    query: perLayer(dim * dim),
    key: perLayer(kvDim * dim),
    value: perLayer(kvDim * dim),
    attentionOutput: perLayer(dim * dim),
    feedForwardGain: perLayer(dim),
    gate: perLayer(hiddenDim * dim),
    down: perLayer(dim * hiddenDim),
    up: perLayer(hiddenDim * dim),
    finalGain: once(dim),
    // Cosines and sines of the rotary angles. forward.ts computes its own.
    rotaryTables: once((sequenceLength * dim) / headCount),
    head: once(sharedHead ? 0 : vocabSize * dim),
  };
}

function sliceTensors(shape: ModelShape, floats: Float32Array): Checkpoint {
  const sizes = tensorSizes(shape);
  const tensors = {} as Record<keyof typeof sizes, Float32Array[]>;
  let offset = 0;
  for (const [name, { count, size }] of Object.entries(sizes)) {
    tensors[name as keyof typeof sizes] = Array.from({ length: count }, () => floats.subarray(offset, (offset += size)));
  }
  const layers = Array.from({ length: shape.layerCount }, (_, layer) => ({
    attentionGain: tensors.attentionGain[layer]!,
    query: tensors.query[layer]!,
    key: tensors.key[layer]!,
    value: tensors.value[layer]!,
    attentionOutput: tensors.attentionOutput[layer]!,
    feedForwardGain: tensors.feedForwardGain[layer]!,
    gate: tensors.gate[layer]!,
    down: tensors.down[layer]!,
    up: tensors.up[layer]!,
  }));
  const tokenEmbedding = tensors.tokenEmbedding[0]!;
  return { shape, tokenEmbedding, layers, finalGain: tensors.finalGain[0]!, head: shape.sharedHead ? tokenEmbedding : tensors.head[0]! };
}
