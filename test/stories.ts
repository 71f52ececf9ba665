/** examples/stories on a backend: the model is data from elsewhere, and what it tells is the same on every backend, in every batch. */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, it } from "vitest";
import { readCheckpoint, type Checkpoint } from "../examples/stories/checkpoint.js";
import { exportStory } from "../examples/stories/export.js";
import { roundHead, type HeadDtype } from "../examples/stories/head.js";
import { tellStories, type Story } from "../examples/stories/story.js";
import { readNpyFloats, readNpyIntegers } from "../src/head/npy.js";
import { bytesSource } from "../src/head/source.js";
import { createSampler, type BackendName } from "../src/index.js";

/** Of the files that the tests write. */
export const folder = mkdtempSync(join(tmpdir(), "flash-sampling-stories-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

export const DTYPES: readonly HeadDtype[] = ["f32", "bf16", "f16"];
const shared = process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
export const modelPath = join(shared, "models", "stories260K.bin");
export const tokenizerPath = join(shared, "models", "tok512.bin");

/** Why there is no model, or null. */
export const missingModel = existsSync(modelPath) ? null : "no models/stories260K.bin; FLASH_SAMPLING_SHARED names the folder that has it (karpathy/tinyllamas)";

/** The drawn tokens of a seed-1 story on stream 0. A snapshot of what the example told when it was written. */
const SNAPSHOT = [
  403, 407, 261, 378, 432, 383, 286, 261, 278, 277, 418, 262, 421, 292, 411, 426, 359, 413, 286, 265, 382, 315, 418, 284, 303, 263, 415, 414, 401, 360,
];
/** SHA-256 of the hidden states of that story's first 64 draws: a snapshot as well, the same on every engine. */
const SNAPSHOT_HIDDEN = "2345ef744b2b0845c1e5045aea6cf349e4802d546cc13a0b18fe92bbf9608bb5";

let checkpoint: Promise<Checkpoint> | null = null;
export function checkpointOnce(): Promise<Checkpoint> {
  return (checkpoint ??= readCheckpoint(modelPath));
}

export async function tell(backend: BackendName, dtype: HeadDtype, sequences: readonly number[], steps: number, seed = 1n, prompt: readonly number[] = []): Promise<Story[]> {
  const checkpoint = await checkpointOnce();
  const head = roundHead(checkpoint.head, dtype, [checkpoint.shape.vocabSize, checkpoint.shape.dim]);
  const sampler = await createSampler({ weights: head, backend });
  try {
    return await tellStories({ checkpoint, sampler, seed, sequences, prompt, temperature: 1, steps });
  } finally {
    sampler.dispose();
  }
}

/** What the oracle tells when it tells one story alone. Slow, so once for all backends. */
const oracleStories = new Map<string, Promise<Story[]>>();
function tellByOracle(dtype: HeadDtype, sequence: number): Promise<Story[]> {
  const key = `${dtype} ${sequence}`;
  const told = oracleStories.get(key) ?? tell("reference", dtype, [sequence], 32);
  oracleStories.set(key, told);
  return told;
}

export function stories(name: BackendName): void {
  it("tells the snapshot", async () => {
    const [story] = await tell(name, "f32", [0], 64);
    expect(story!.tokens.slice(0, SNAPSHOT.length)).toEqual(SNAPSHOT);
    const digest = createHash("sha256");
    for (const hiddenState of story!.hiddenStates) digest.update(hiddenState);
    expect(digest.digest("hex")).toBe(SNAPSHOT_HIDDEN);
  });

  it.each(DTYPES)("%s: tells in a batch what the oracle tells alone", async (dtype) => {
    const sequences = [0, 7, 2 ** 32 - 1];
    const together = await tell(name, dtype, sequences, 32);
    expect(new Set(together.map(({ tokens }) => tokens.join())).size).toBe(sequences.length);
    for (const [index, sequence] of sequences.entries()) {
      // Alone, too, where that is quick.
      if (name !== "reference" && name !== "webgpu") expect(await tell(name, dtype, [sequence], 32)).toEqual([together[index]]);
      expect(await tellByOracle(dtype, sequence)).toEqual([together[index]]);
    }
  });

  it.each(DTYPES)("%s: draws the story again from its exported files", async (dtype) => {
    const checkpoint = await checkpointOnce();
    const [story] = await tell(name, dtype, [3], 40, 5n);
    const target = join(folder, `${name}-${dtype}`);
    await exportStory(target, roundHead(checkpoint.head, dtype, [512, 64]), story!);
    const hidden = await readNpyFloats(bytesSource(readFileSync(join(target, "hidden.npy"))));
    const tokens = await readNpyIntegers(bytesSource(readFileSync(join(target, "tokens.npy"))));
    expect([hidden.shape, tokens.shape]).toEqual([[40, 64], [40]]);
    const sampler = await createSampler({ weights: join(target, "head.safetensors"), backend: name });
    const again = await sampler.sample({ hiddenStates: hidden.data as Float32Array, seed: 5n, sequence: 3, position: Array.from(tokens.data.keys()) });
    expect([sampler.dtype, sampler.vocabSize, sampler.hiddenSize]).toEqual([dtype, 512, 64]);
    expect(again.tokens).toEqual(tokens.data);
    expect(Array.from(tokens.data)).toEqual(story!.tokens);
    sampler.dispose();
  });
}
