/**
 * examples/stories: a trained model with the sampler as its last layer tells the same story on every backend, in every batch.
 * The model is data from elsewhere: these tests skip by name where it is absent.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { readCheckpoint } from "../examples/stories/checkpoint.js";
import { exportStory } from "../examples/stories/export.js";
import { roundHead, type HeadDtype } from "../examples/stories/head.js";
import { tellStories, type Story } from "../examples/stories/story.js";
import { readTokenizer } from "../examples/stories/tokenizer.js";
import { readNpyFloats, readNpyIntegers } from "../src/head/npy.js";
import { bytesSource } from "../src/head/source.js";
import { BACKENDS, createSampler, type BackendName } from "../src/index.js";
import { unavailable } from "./require.js";

const folder = mkdtempSync(join(tmpdir(), "flash-sampling-stories-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const DTYPES: readonly HeadDtype[] = ["f32", "bf16", "f16"];
const program = fileURLToPath(new URL("../examples/stories", import.meta.url));
const commandLine = fileURLToPath(new URL("../dist/cli.js", import.meta.url));
const shared = process.env["FLASH_SAMPLING_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
const modelPath = join(shared, "models", "stories260K.bin");
const tokenizerPath = join(shared, "models", "tok512.bin");

/** The drawn tokens of a seed-1 story on stream 0. A snapshot of what the example told when it was written. */
const SNAPSHOT = [
  403, 407, 261, 378, 432, 383, 286, 261, 278, 277, 418, 262, 421, 292, 411, 426, 359, 413, 286, 265, 382, 315, 418, 284, 303, 263, 415, 414, 401, 360,
];
const SNAPSHOT_TEXT = "Once upon a time, there was a loud slide. It was the";
/** SHA-256 of the hidden states of that story's first 64 draws: a snapshot as well, the same on every engine. */
const SNAPSHOT_HIDDEN = "2345ef744b2b0845c1e5045aea6cf349e4802d546cc13a0b18fe92bbf9608bb5";

describe.skipIf(unavailable("shared", existsSync(modelPath) ? null : "no models/stories260K.bin; FLASH_SAMPLING_SHARED names the folder that has it (karpathy/tinyllamas)"))("stories260K", async () => {
  const loading = existsSync(modelPath) ? readCheckpoint(modelPath) : null;
  const tell = async (backend: BackendName | "auto", dtype: HeadDtype, sequences: readonly number[], steps: number, seed = 1n, prompt: readonly number[] = []) => {
    const checkpoint = (await loading)!;
    const head = roundHead(checkpoint.head, dtype, [checkpoint.shape.vocabSize, checkpoint.shape.dim]);
    const sampler = await createSampler({ weights: head, backend });
    try {
      return await tellStories({ checkpoint, sampler, seed, sequences, prompt, temperature: 1, steps });
    } finally {
      sampler.dispose();
    }
  };

  /** What the oracle tells when it tells one story alone. Slow, so once for all backends. */
  const oracleStories = new Map<string, Promise<Story[]>>();
  const tellByOracle = (dtype: HeadDtype, sequence: number) => {
    const key = `${dtype} ${sequence}`;
    const told = oracleStories.get(key) ?? tell("reference", dtype, [sequence], 32);
    oracleStories.set(key, told);
    return told;
  };

  for (const { name, probe } of BACKENDS) {
    if (unavailable(name, await probe())) continue;
    describe(name, () => {
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
          // Alone, too: all stories where that is quick, else the first.
          if (name !== "reference" && (name !== "webgpu" || index === 0)) expect(await tell(name, dtype, [sequence], 32)).toEqual([together[index]]);
          expect(await tellByOracle(dtype, sequence)).toEqual([together[index]]);
        }
      });

      it.each(DTYPES)("%s: draws the story again from its exported files", async (dtype) => {
        const checkpoint = (await loading)!;
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
    });
  }

  it("goes on from a prompt, and says another thing with another seed", async () => {
    const tokenizer = await readTokenizer(tokenizerPath, 512);
    const text = "Tim had a red kite, 3 µm long. 日本";
    const prompt = tokenizer.encode(text);
    const bytes = prompt.flatMap((token, index) => Array.from(tokenizer.decode(prompt[index - 1] ?? 1, token)));
    expect(new TextDecoder().decode(Uint8Array.from(bytes))).toBe(text);
    const [first] = await tell("reference", "f32", [0], prompt.length + 20, 1n, prompt);
    const [second] = await tell("reference", "f32", [0], prompt.length + 20, 2n, prompt);
    expect(first!.tokens).toHaveLength(20);
    expect(first!.hiddenStates[0]).toEqual(second!.hiddenStates[0]);
    expect(first!.tokens).not.toEqual(second!.tokens);
  });

  it("refuses steps and prompts past the model's limit", async () => {
    await expect(tell("reference", "f32", [0], 513)).rejects.toThrow('"steps" expected an integer in [1, 512], got 513');
    await expect(tell("reference", "f32", [0], 4, 1n, [5, 6, 7, 8])).rejects.toThrow('"prompt" expected fewer tokens than the 4 steps, got 4');
  });

  it.each(DTYPES)("%s: the command line draws it again from its exported files, as sample and as oracle", async (dtype) => {
    const checkpoint = (await loading)!;
    const [story] = await tell("reference", dtype, [3], 40, 5n);
    const target = join(folder, `command-${dtype}`);
    await exportStory(target, roundHead(checkpoint.head, dtype, [512, 64]), story!);
    const inputs = ["--weights", join(target, "head.safetensors"), "--hidden", join(target, "hidden.npy"), "--seed", "5", "--sequence", "3", "--position", "rows"];
    const command = (verb: string, ...more: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [commandLine, verb, ...inputs, ...more], { encoding: "utf8" });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      return stdout;
    };
    expect(command("sample")).toBe(`${story!.tokens.join("\n")}\n`);
    const { rows } = JSON.parse(command("oracle", "--json")) as { rows: { token: number; margin: number }[] };
    expect(rows.map(({ token }) => token)).toEqual(story!.tokens);
    expect(rows.every(({ margin }) => margin >= 0)).toBe(true);
  });

  it("is told by the command", () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, modelPath, "--seed", "1", "--steps", "20"], { encoding: "utf8" });
    expect({ status, stdout }).toEqual({ status: 0, stdout: `${SNAPSHOT_TEXT}\n` });
    expect(stderr).toMatch(/^\S+, f32 head \[512, 64\], seed 1, 20 tokens\n$/);
  });
});
