/** What goodnessOfFit is given, checked before any work. */
import { checkInteger } from "../../arguments.js";
import { describe, nameText } from "../../describe.js";
import { checkMatrix, widen, type FloatData } from "../../matrix.js";
import { TEMPERATURE_LIMIT } from "../../spec/constants.js";
import { ownView, typedArrayKind } from "../../typed-arrays.js";
import { checkNumber, readOptions } from "../guards.js";
import { isList } from "../values.js";
import { readTokens, type TokenArray } from "../tokens.js";

export type { TokenArray } from "../tokens.js";

export interface JudgedBy {
  /** [V] or [B, V], row-major; -Infinity masks a token */
  readonly logits: FloatData | Float64Array;
  /** V; default: all logits in one row */
  readonly vocabSize?: number | undefined;
  /** 0 < T < 256; default 1 */
  readonly temperature?: number | undefined;
  /** how often correct tokens may raise an alarm, 1e-12 to 0.1; default 1e-9 */
  readonly alpha?: number | undefined;
  /** names of the axes of the tokens' array; default "sample" (or "row", for a token a row), "row,sample", "row,position,sample" */
  readonly axes?: readonly string[] | undefined;
  /** into so many equal parts the sampler cuts its vocabulary (tensor-parallel ranks); default 1: that is not looked at */
  readonly shards?: number | undefined;
}

export interface GofOptions extends JudgedBy {
  /** of any integer type; with B rows of logits the first axis has B places */
  readonly tokens: TokenArray;
  /** of tokens; default [tokens.length], or [B, tokens.length / B] */
  readonly shape?: readonly number[] | undefined;
}

export interface CheckedJudge {
  readonly logits: Float32Array | Float64Array;
  readonly rowCount: number;
  readonly vocabSize: number;
  readonly temperature: number;
  readonly alpha: number;
  readonly axes: readonly string[] | undefined;
  readonly shards: number;
}

export const DEFAULT_ALPHA = 1e-9;
/** Below, the precision of the tails would decide. Above, the bounds that add up rates would. */
const [LEAST_ALPHA, MOST_ALPHA] = [1e-12, 0.1];
const VOCAB_LIMIT = 2 ** 31;
const AXIS_NAMES: readonly (readonly string[])[] = [[], ["sample"], ["row", "sample"], ["row", "position", "sample"]];
const RANK_LIMIT = 4;
export const JUDGE_OPTIONS = ["logits", "vocabSize", "temperature", "alpha", "axes", "shards"] as const;

/** @throws TypeError, RangeError naming the option */
export function checkJudge(options: JudgedBy): CheckedJudge {
  const { temperature = 1, alpha = DEFAULT_ALPHA, axes, shards = 1 } = options;
  const { logits, vocabSize, rowCount } = checkLogits(options);
  checkTemperature(temperature);
  checkNumber("alpha", alpha, LEAST_ALPHA, MOST_ALPHA);
  checkInteger("shards", shards, 1, vocabSize + 1);
  return { logits, rowCount, vocabSize, temperature, alpha, axes: axes === undefined ? undefined : checkAxes(axes), shards };
}

function checkLogits({ logits, vocabSize }: JudgedBy): Pick<CheckedJudge, "logits" | "vocabSize" | "rowCount"> {
  const isDouble = typedArrayKind(logits) === "Float64Array";
  const values = isDouble ? ownView(logits, Float64Array) : widen(checkMatrix("logits", logits as FloatData, "V", 1));
  if (values.length === 0) throw new RangeError('"logits" expected at least one value, got none');
  const columns = vocabSize === undefined ? values.length : vocabSize;
  checkInteger("vocabSize", columns, 1, VOCAB_LIMIT);
  if (values.length % columns !== 0) throw new RangeError(`"logits" expected a positive multiple of V = ${columns} values, got ${values.length}`);
  return { logits: values, vocabSize: columns, rowCount: values.length / columns };
}

function checkTemperature(temperature: unknown): void {
  const expected = `a number in (0, ${TEMPERATURE_LIMIT}): a greedy sampler draws nothing`;
  if (typeof temperature !== "number") throw new TypeError(`"temperature" expected ${expected}, got ${describe(temperature)}`);
  if (!(temperature > 0 && temperature < TEMPERATURE_LIMIT)) throw new RangeError(`"temperature" expected ${expected}, got ${temperature}`);
}

/** @throws TypeError, RangeError unless they are up to four different names */
export function checkAxes(axes: readonly string[]): readonly string[] {
  if (!isList(axes)) throw new TypeError(`"axes" expected an array of names, got ${describe(axes)}`);
  for (const name of axes as readonly unknown[]) {
    if (typeof name !== "string") throw new TypeError(`"axes" expected names, got ${describe(name)}`);
    if (!/^[a-z][\w-]{0,30}$/i.test(name)) throw new RangeError(`"axes" expected names of letters and digits, got ${nameText(name)}`);
  }
  if (axes.length < 1 || axes.length > RANK_LIMIT || new Set(axes).size < axes.length) {
    throw new RangeError(`"axes" expected 1 to ${RANK_LIMIT} different names, got ${axes.length === 0 ? "none" : axes.join(",")}`);
  }
  return [...axes];
}

export interface CheckedTokens {
  /** whole numbers as they are, for faults that 32 bits do not hold */
  readonly given: ArrayLike<number | bigint>;
  readonly shape: readonly number[];
  readonly axes: readonly string[];
}

/** @throws TypeError, RangeError naming the option */
export function checkTokens(options: Pick<GofOptions, "tokens" | "shape">, { rowCount, axes }: CheckedJudge): CheckedTokens {
  const given = readTokens("tokens", options.tokens);
  if (given.length === 0) throw new RangeError('"tokens" expected at least one, got none');
  const shape = options.shape === undefined ? (rowCount > 1 ? [rowCount, given.length / rowCount] : [given.length]) : readSizes(options.shape);
  const product = shape.reduce((total, size) => total * (Number.isInteger(size) && size > 0 ? size : NaN), 1);
  if (product !== given.length) throw new RangeError(`"shape" expected positive sizes whose product is the ${given.length} tokens, got [${shape.join(", ")}]`);
  const names = axes ?? (shape.length === 1 && rowCount > 1 ? ["row"] : (AXIS_NAMES[shape.length] ?? []));
  if (shape.length !== names.length) throw new RangeError(`"axes" expected ${shape.length} names for tokens of shape [${shape.join(", ")}], got ${names.join(",") || "none"}`);
  if (rowCount > 1 && shape[0] !== rowCount) {
    throw new RangeError(`"tokens" expected ${rowCount} places on the first axis, one for each row of logits, got shape [${shape.join(", ")}]`);
  }
  return { given, shape, axes: names };
}

/** A copy. Whether they are sizes is the caller's to check. */
function readSizes(shape: unknown): number[] {
  if (!isList(shape)) throw new TypeError(`"shape" expected an array of sizes, got ${describe(shape)}`);
  if (shape.length > RANK_LIMIT) throw new RangeError(`"shape" expected 1 to ${RANK_LIMIT} sizes, got ${shape.length}`);
  return Array.from(shape, (size, axis) => {
    if (typeof size !== "number") throw new TypeError(`"shape[${axis}]" expected a size, got ${describe(size)}`);
    return size;
  });
}

export function checkGofOptions(given: GofOptions): { judge: CheckedJudge; tokens: CheckedTokens } {
  const options = readOptions(given, ["tokens", ...JUDGE_OPTIONS, "shape"]);
  const judge = checkJudge(options);
  return { judge, tokens: checkTokens(options, judge) };
}
