/**
 * Tells stories: the forward pass gives a hidden state for each, the sampler multiplies them with the LM head and draws.
 * A story depends on its own seed, sequence and prompt, never on how many others are told in the same batch.
 */
import type { Sampler } from "flash-sampling";
import type { Checkpoint } from "./checkpoint.js";
import { Decoder } from "./forward.js";
import { BEGIN_TOKEN } from "./tokenizer.js";

export interface StoryOptions {
  readonly checkpoint: Checkpoint;
  /** Holds the checkpoint's head. */
  readonly sampler: Pick<Sampler, "sample">;
  readonly seed: bigint;
  /** One story each: the sequence numbers of their random streams. */
  readonly sequences: readonly number[];
  /** Tokens that every story begins with, without the begin token. */
  readonly prompt: readonly number[];
  readonly temperature: number;
  /** Longest story in tokens, prompt and begin token included. */
  readonly steps: number;
  /** Called for each token as it is drawn, with the token before it. */
  readonly onToken?: (story: number, previous: number, token: number) => void;
}

export interface Story {
  /** What was drawn; draw number k had position k. The last one is the begin token when the story came to an end. */
  readonly tokens: number[];
  /** The hidden state [D] of each draw. */
  readonly hiddenStates: Float32Array[];
}

/**
 * @throws RangeError when steps is out of range or the prompt leaves no room; whatever sampler.sample throws
 */
export async function tellStories(options: StoryOptions): Promise<Story[]> {
  const { checkpoint, sampler, seed, prompt, temperature, steps } = options;
  const { dim, sequenceLength } = checkpoint.shape;
  if (steps < 1 || steps > sequenceLength) throw new RangeError(`"steps" expected an integer in [1, ${sequenceLength}], got ${steps}`);
  if (prompt.length >= steps) throw new RangeError(`"prompt" expected fewer tokens than the ${steps} steps, got ${prompt.length}`);
  const beginning = [BEGIN_TOKEN, ...prompt];
  const told = options.sequences.map((sequence, index) => {
    const decoder = new Decoder(checkpoint, steps);
    for (const token of beginning.slice(0, -1)) decoder.step(token);
    const story: Story = { tokens: [], hiddenStates: [] };
    return { index, sequence, decoder, story, last: beginning.at(-1)! };
  });
  let unfinished = told;
  for (let position = 0; beginning.length + position <= steps && unfinished.length > 0; position++) {
    const hiddenStates = new Float32Array(unfinished.length * dim);
    unfinished.forEach(({ decoder, story, last }, row) => {
      const hiddenState = decoder.step(last);
      story.hiddenStates.push(hiddenState);
      hiddenStates.set(hiddenState, row * dim);
    });
    const sequence = unfinished.map((entry) => entry.sequence);
    const { tokens } = await sampler.sample({ hiddenStates, seed, sequence, position, temperature });
    unfinished.forEach((entry, row) => {
      const token = tokens[row]!;
      entry.story.tokens.push(token);
      options.onToken?.(entry.index, entry.last, token);
      entry.last = token;
    });
    unfinished = unfinished.filter(({ last }) => last !== BEGIN_TOKEN);
  }
  return told.map(({ story }) => story);
}
