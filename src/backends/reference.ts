/** The oracle as a backend: src/spec on whole rows, one token after the other. Slow by design; what every other backend must equal. */
import { allocate } from "../allocate.js";
import {
  DTYPE_BYTES,
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
import { emptyCandidates } from "../shard/merge.js";
import { rowZ, weightsIn, type Head, type LogitOf, type WeightData } from "../spec/logit.js";
import { decodeRequest } from "../spec/request.js";
import { drawRow, rowFromLogits, type RowZ } from "../spec/sample.js";

const STATUS_CODES = { ok: STATUS_OK, invalid: STATUS_INVALID, "all-masked": STATUS_ALL_MASKED } as const;

/** @param logitOf another arithmetic than the rule's for the logits of a head */
export function createReferenceBackend(logitOf?: LogitOf): Backend {
  return {
    name: "reference",
    createHead: (shape, scales) => new ReferenceSink(shape, scales, logitOf),
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
  #logitOf: LogitOf | undefined;

  constructor(shape: HeadShape, scales: Float32Array | null, logitOf: LogitOf | undefined) {
    this.#shape = shape;
    this.#scales = scales;
    this.#logitOf = logitOf;
    const { dtype, vocabSize, hiddenSize } = shape;
    const buffer = allocate(() => new ArrayBuffer(vocabSize * hiddenSize * DTYPE_BYTES[dtype]), `${vocabSize} * ${hiddenSize} weights`);
    this.#weights = weightsIn(buffer, dtype);
    this.#bytes = new Uint8Array(buffer);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    const rowBytes = this.#shape.hiddenSize * this.#weights.BYTES_PER_ELEMENT;
    return { firstRow, rowCount, bytes: this.#bytes.subarray(firstRow * rowBytes, (firstRow + rowCount) * rowBytes) };
  }

  commit(): void {}

  finish(): BackendHead {
    const { dtype, vocabSize, hiddenSize, groupSize } = this.#shape;
    const weights = this.#weights;
    const logitOf = this.#logitOf;
    let head: Head | null = { dtype, vocabSize, hiddenSize, weights, groupSize, ...(this.#scales && { scales: this.#scales }) };
    return {
      async sample({ hiddenStates, request }: Batch) {
        if (head === null) throw new Error('"head" expected one that is in use, got one that was disposed of');
        const used = head;
        return decide(request, (row) => rowZ(used, hiddenStates.subarray(row * hiddenSize, (row + 1) * hiddenSize), logitOf));
      },
      dispose() {
        head = null;
      },
    };
  }

  abort(): void {}
}

function decide(words: Uint32Array, zOfRow: (row: number) => RowZ): Candidates {
  const { rows, samples } = decodeRequest(words);
  const candidates = emptyCandidates(rows.length * samples);
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
