/** Two calls before all questions: a sampler that cannot answer those was not connected rightly. */
import { messageOf } from "../values.js";
import type { Batch } from "./batch.js";
import type { OptionalInput } from "./case.js";
import { endsTheRun, type Probe } from "./probe.js";

const [ROWS, VOCABULARY, SAMPLES] = [3, 40, 2];

/** @throws Error for a sampler that fails; what says that the whole run must end */
export async function handshake(probe: Probe, reads: ReadonlySet<OptionalInput>): Promise<void> {
  try {
    for (const batch of firstCalls(reads)) await probe.ask(batch);
  } catch (cause) {
    probe.throwIfAborted();
    if (endsTheRun(cause)) throw cause;
    // What is worded as a refusal says it already.
    if (cause instanceof Error && messageOf(cause).startsWith('"')) throw cause;
    throw new Error(`"sampler" expected tokens from its first calls, got an error: ${messageOf(cause)}`, { cause });
  }
}

/** The plainest call, then one with all that the sampler is said to read. */
function firstCalls(reads: ReadonlySet<OptionalInput>): readonly Batch[] {
  const row = { logits: new Float32Array(VOCABULARY), temperature: 1, seed: 1n, sequence: 0, position: 0 };
  const all: Batch = {
    numSamples: reads.has("samples") ? SAMPLES : 1,
    ...(reads.has("shards") && { shards: 2 }),
    rows: Array.from({ length: ROWS }, (_, index) => ({
      ...row,
      sequence: reads.has("sequence") ? index : 0,
      position: reads.has("position") ? index : 0,
      ...(reads.has("mask") && { isAllowed: new Array<boolean>(VOCABULARY).fill(true) }),
      ...(reads.has("top-k") && { topK: VOCABULARY }),
      ...(reads.has("top-p") && { topP: 1 }),
    })),
  };
  return [{ rows: [row], numSamples: 1 }, all];
}
