/** examples/stories on every backend but WebGPU, its prompts and limits, and the command. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { exportStory } from "../examples/stories/export.js";
import { roundHead } from "../examples/stories/head.js";
import { readTokenizer } from "../examples/stories/tokenizer.js";
import { BESIDE_WEBGPU, obstacleOf } from "./each-backend.js";
import { unavailable } from "./require.js";
import { checkpointOnce, DTYPES, folder, missingModel, modelPath, stories, tell, tokenizerPath } from "./stories.js";

const program = fileURLToPath(new URL("../examples/stories", import.meta.url));
const commandLine = fileURLToPath(new URL("../dist/cli.js", import.meta.url));

/** What the snapshot of the drawn tokens says. */
const SNAPSHOT_TEXT = "Once upon a time, there was a loud slide. It was the";

describe.skipIf(unavailable("shared", missingModel))("stories260K", async () => {
  for (const name of BESIDE_WEBGPU) {
    if (!unavailable(name, await obstacleOf(name))) describe(name, () => stories(name));
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
    const checkpoint = await checkpointOnce();
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
