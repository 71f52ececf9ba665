/** Backends against the oracle, decision by decision: what exactness.mjs does in Node and chromium.mjs in a page, and how both report it. */
import { createHash } from "node:crypto";
import type { Checkpoint } from "../../examples/stories/checkpoint.js";
import { roundHead, type HeadDtype } from "../../examples/stories/head.js";
import { tellStories } from "../../examples/stories/story.js";
import type { BackendName } from "../../src/backends/list.js";
import { createSampler } from "../../src/sampler.js";
import { detailLine, difference, runProblem } from "../../test/compare.js";
import { makeProblem } from "../../test/problems.js";

export interface ComparedProblem {
  readonly index: number;
  /** The oracle's, a line each. */
  readonly decisions: string;
  /** In words, at most one a backend. */
  readonly differences: readonly string[];
}

/** Seeded problem number `index` of the tests. */
export async function compareProblem(index: number, backends: readonly BackendName[]): Promise<ComparedProblem> {
  const problem = makeProblem(index);
  const expected = await runProblem(problem, "reference");
  const differences: string[] = [];
  for (const backend of backends) {
    const found = difference(`${backend}, ${problem.name}`, expected, await runProblem(problem, backend));
    if (found !== null) differences.push(found);
  }
  return { index, decisions: expected.map((detail) => `${detailLine(detail)}\n`).join(""), differences };
}

/** Prints what came of the problems. The digest is of their order, not of that in which they were compared. Returns how much differs. */
export function reportProblems(compared: readonly ComparedProblem[], where: string): number {
  const digest = createHash("sha256");
  for (const { decisions } of [...compared].sort((a, b) => a.index - b.index)) digest.update(decisions);
  const differences = compared.flatMap((problem) => problem.differences);
  console.log(`${compared.length} problems on ${where}: ${differences.length} differences, digest of the oracle's decisions ${digest.digest("hex")}`);
  for (const found of differences.slice(0, 10)) console.log(found);
  return differences.length;
}

export const STORY_DTYPES: readonly HeadDtype[] = ["f32", "bf16", "f16"];
const SEQUENCES = [0, 1, 2, 3];
const STEPS = 128;

export interface ComparedStories {
  readonly dtype: HeadDtype;
  /** How many were told, and how many of them differ. */
  readonly told: number;
  readonly differing: number;
}

/** The model's stories on a backend, told in a batch and alone. */
export async function compareStories(checkpoint: Checkpoint, dtype: HeadDtype, compared: BackendName): Promise<ComparedStories> {
  const tell = async (backend: BackendName, sequences: readonly number[]): Promise<string[]> => {
    const head = roundHead(checkpoint.head, dtype, [checkpoint.shape.vocabSize, checkpoint.shape.dim]);
    const sampler = await createSampler({ weights: head, backend });
    const stories = await tellStories({ checkpoint, sampler, seed: 1n, sequences, prompt: [], temperature: 1, steps: STEPS });
    sampler.dispose();
    return stories.map(({ tokens }) => tokens.join());
  };
  const expected = await tell("reference", SEQUENCES);
  const together = await tell(compared, SEQUENCES);
  const alone = (await Promise.all(SEQUENCES.map((sequence) => tell(compared, [sequence])))).flat();
  const differing = expected.filter((story, index) => story !== together[index] || story !== alone[index]).length;
  return { dtype, told: expected.length, differing };
}

/** Prints what came of the stories. Returns how many differ. */
export function reportStories({ dtype, told, differing }: ComparedStories, where = ""): number {
  console.log(`stories260K, ${dtype}${where}: ${differing} of ${told} stories of ${STEPS} steps differ, in a batch and alone`);
  return differing;
}
