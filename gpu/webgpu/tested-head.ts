/** A head whose kernels are tested before they are first used: a batch of another size may need another kernel. */
import type { BackendHead, DeviceBatch, HeadSink } from "../../src/backend.js";
import { HEADER_ROWS } from "../../src/spec/request.js";

/** @param assertRight rejects where a kernel for so many rows gives wrong answers */
export function testedHead(head: BackendHead, assertRight: (rows: number) => Promise<void>): BackendHead {
  return {
    async sample(batch) {
      await assertRight(batch.request[HEADER_ROWS]!);
      return head.sample(batch);
    },
    ...(head.sampleOnDevice !== undefined && {
      async sampleOnDevice(batch: DeviceBatch) {
        await assertRight(batch.request[HEADER_ROWS]!);
        return head.sampleOnDevice!(batch);
      },
    }),
    dispose: () => head.dispose(),
  };
}

export function testedSink(sink: HeadSink, assertRight: (rows: number) => Promise<void>): HeadSink {
  return {
    reserve: (firstRow, rowCount) => sink.reserve(firstRow, rowCount),
    commit: (block, statistics) => sink.commit(block, statistics),
    finish: async () => testedHead(await sink.finish(), assertRight),
    abort: () => sink.abort(),
  };
}
