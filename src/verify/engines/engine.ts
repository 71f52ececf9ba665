/** What a replay of another engine's sampler is: from the logits of a row and the place of its draw to scores, whose highest is drawn. */
import type { Bounded } from "../bounded.js";

/** Which draw of which call. */
export interface EngineDraw {
  /** as the engine is given it; an engine refuses what it cannot be given */
  readonly seed: bigint;
  /** the decode step, from 0. What an engine makes of it, its option texts say. */
  readonly position: bigint;
  /** index of the row in its call, 0 <= row < rows */
  readonly row: number;
  readonly rows: number;
  /** index of the draw of that row, 0 <= sample < numSamples */
  readonly sample: number;
  readonly numSamples: number;
  readonly vocabSize: number;
  /** more than 0, but 0 (greedy) where an engine has that */
  readonly temperature: number;
}

/** A call whose draws are judged. */
export interface EngineCall extends Pick<EngineDraw, "rows" | "numSamples" | "vocabSize"> {
  /** of each row */
  readonly positions: readonly number[];
}

export type OptionValues = Readonly<Record<string, unknown>>;

/** Of the engine's own: `--engine-option NAME=TEXT`. */
export interface EngineOption<Value> {
  /** a sentence, with the values it takes */
  readonly description: string;
  /** as text, as parse reads it */
  readonly default: string;
  /** of isValue: "a whole number from 0 to 7" */
  readonly expected: string;
  /** Whether `scores` takes it. */
  isValue(value: unknown): value is Value;
  /** label: names the text in an error; default "text". @throws TypeError, RangeError */
  parse(text: string, label?: string): Value;
}

export interface EngineReplay<Options extends OptionValues = OptionValues> {
  /** as `--engine` takes it */
  readonly name: string;
  readonly title: string;
  readonly source: { readonly project: string; readonly file: string; readonly version: string; readonly licence: string };
  /** "recorded": outputs of the engine itself prove the replay, but for what `unproven` lists */
  readonly status: "recorded" | "unproven";
  readonly unproven: readonly string[];
  /** What of `unproven` bears on such a call; absent: all of it does. options: as scores takes them */
  unprovenIn?(call: EngineCall, options: Options): readonly string[];
  /** there are no positions: draws at others than 0 are refused */
  readonly hasNoPositions?: true;
  /** what is not reproduced */
  readonly limits: readonly string[];
  /** by their names on the command line */
  readonly options: { readonly [Name in keyof Options]: EngineOption<Options[Name]> };
  /**
   * The scores [vocabSize] of a row: the engine draws the token of the highest, the first of equal ones. Bounds hold what its device computes
   * from logits within theirs. A masked token has the logit -Infinity; other logits are finite.
   * options: all of the engine's, as readEngineOptions gives them
   * @throws TypeError, RangeError naming the argument; RangeError where the engine cannot be asked for such a draw
   */
  scores(logits: Bounded, draw: EngineDraw, options: Options): Bounded;
}
