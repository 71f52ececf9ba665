/** The oracle as a backend: src/spec on whole rows, one token after the other. Slow by design; what every other backend must equal. */
import { allocate } from "../allocate.js";
import {
  STATUS_ALL_MASKED,
  STATUS_INVALID,
  STATUS_OK,
  type Backend,
  type BackendHead,
  type Batch,
  type Candidates,
  type HeadShape,
  type HeadSink,
  type LogitsBatch,
  type RowBlock,
} from "../backend.js";
import { rowZ, type Head, type WeightData } from "../spec/logit.js";
import { decodeRequest } from "../spec/request.js";
import { drawRow, rowFromLogits, type RowZ } from "../spec/sample.js";

const STATUS_CODES = { ok: STATUS_OK, invalid: STATUS_INVALID, "all-masked": STATUS_ALL_MASKED } as const;

export function createReferenceBackend(): Backend {
  return {
    name: "reference",
    createHead: (shape, scales) => new ReferenceSink(shape, scales),
    async sampleLogits({ logits, vocabSize, request }: LogitsBatch) {
      return decide(request, (row) => rowFromLogits(logits.subarray(row * vocabSize, (row + 1) * vocabSize)));
    },
    dispose() {},
  };
}

class ReferenceSink implements HeadSink {
  #shape: HeadShape;
  #scales: Float32Array | null;
  #weights: WeightData;
  #bytes: Uint8Array;

  constructor(shape: HeadShape, scales: Float32Array | null) {
    this.#shape = shape;
    this.#scales = scales;
    this.#weights = allocate(() => allocateWeights(shape), `${shape.vocabSize} * ${shape.hiddenSize} weights`);
    this.#bytes = new Uint8Array(this.#weights.buffer);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    const rowBytes = this.#shape.hiddenSize * this.#weights.BYTES_PER_ELEMENT;
    return { firstRow, rowCount, bytes: this.#bytes.subarray(firstRow * rowBytes, (firstRow + rowCount) * rowBytes) };
  }

  commit(): void {}

  finish(): BackendHead {
    const { dtype, vocabSize, hiddenSize, groupSize } = this.#shape;
    const weights = this.#weights;
    let head: Head | null = { dtype, vocabSize, hiddenSize, weights, groupSize, ...(this.#scales && { scales: this.#scales }) };
    return {
      async sample({ hiddenStates, request }: Batch) {
        if (head === null) throw new Error('"head" expected one that is in use, got one that was disposed of');
        const used = head;
        return decide(request, (row) => rowZ(used, hiddenStates.subarray(row * hiddenSize, (row + 1) * hiddenSize)));
      },
      dispose() {
        head = null;
      },
    };
  }

  abort(): void {}
}

function allocateWeights({ dtype, vocabSize, hiddenSize }: HeadShape): WeightData {
  const length = vocabSize * hiddenSize;
  switch (dtype) {
    case "bf16":
    case "f16":
      return new Uint16Array(length);
    case "f32":
      return new Float32Array(length);
    case "int8":
      return new Int8Array(length);
  }
}

function decide(words: Uint32Array, zOfRow: (row: number) => RowZ): Candidates {
  const { rows, samples } = decodeRequest(words);
  const draws = rows.length * samples;
  const candidates: Candidates = {
    status: new Uint8Array(draws),
    token: new Int32Array(draws),
    score: new BigInt64Array(draws),
    runnerUp: new Int32Array(draws),
    runnerUpScore: new BigInt64Array(draws),
  };
  rows.forEach((request, row) => {
    const z = zOfRow(row);
    for (let sample = 0; sample < samples; sample++) {
      const draw = drawRow(z, request, sample);
      const index = row * samples + sample;
      candidates.status[index] = STATUS_CODES[draw.status];
      candidates.token[index] = draw.token;
      candidates.score[index] = draw.score;
      candidates.runnerUp[index] = draw.runnerUp;
      candidates.runnerUpScore[index] = draw.runnerUpScore;
    }
  });
  return candidates;
}
