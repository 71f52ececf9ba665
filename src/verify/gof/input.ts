/** What goodnessOfFit is given, checked before any work. */
import { checkInteger, checkOptions } from "../../arguments.js";
import { describe, nameText } from "../../describe.js";
import { checkMatrix, widen, type FloatData } from "../../matrix.js";
import { TEMPERATURE_LIMIT } from "../../spec/constants.js";
import { ownView, typedArrayKind } from "../../typed-arrays.js";

export interface JudgedBy {
  /** [V] or [B, V], row-major; -Infinity masks a token */
  readonly logits: FloatData | Float64Array;
  /** V; default: all logits in one row */
  readonly vocabSize?: number;
  /** 0 < T < 256; default 1 */
  readonly temperature?: number;
  /** how often correct tokens may raise an alarm, 1e-12 to 0.1; default 1e-9 */
  readonly alpha?: number;
  /** names of the axes of the tokens' array; default "sample" (or "row", for a token a row), "row,sample", "row,position,sample" */
  readonly axes?: readonly string[];
  /** into so many equal parts the sampler cuts its vocabulary (tensor-parallel ranks); default 1: that is not looked at */
  readonly shards?: number;
}

export interface GofOptions extends JudgedBy {
  /** of any integer type; with B rows of logits the first axis has B places */
  readonly tokens: TokenArray;
  /** of tokens; default [tokens.length], or [B, tokens.length / B] */
  readonly shape?: readonly number[];
}

export type TokenArray = Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array | readonly number[];

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
  checkNumber("temperature", temperature, `a number in (0, ${TEMPERATURE_LIMIT}): a greedy sampler draws nothing`, temperature > 0 && temperature < TEMPERATURE_LIMIT);
  checkNumber("alpha", alpha, `a number from ${LEAST_ALPHA} to ${MOST_ALPHA}`, alpha >= LEAST_ALPHA && alpha <= MOST_ALPHA);
  checkInteger("shards", shards, 1, vocabSize + 1);
  return { logits, rowCount, vocabSize, temperature, alpha, axes: axes === undefined ? undefined : checkAxes(axes), shards };
}

function checkLogits({ logits, vocabSize }: JudgedBy): Pick<CheckedJudge, "logits" | "vocabSize" | "rowCount"> {
  const isDouble = typedArrayKind(logits) === "Float64Array";
  const values = isDouble ? ownView(logits, Float64Array) : widen(checkMatrix("logits", logits as FloatData, "V", 1));
  if (values.length === 0) throw new RangeError('"logits" expected at least one value, got none');
  const columns = vocabSize ?? values.length;
  checkInteger("vocabSize", columns, 1, VOCAB_LIMIT);
  if (values.length % columns !== 0) throw new RangeError(`"logits" expected a positive multiple of V = ${columns} values, got ${values.length}`);
  return { logits: values, vocabSize: columns, rowCount: values.length / columns };
}

function checkNumber(name: string, value: unknown, expected: string, isRight: boolean): void {
  if (typeof value !== "number") throw new TypeError(`"${name}" expected ${expected}, got ${describe(value)}`);
  if (!isRight) throw new RangeError(`"${name}" expected ${expected}, got ${value}`);
}

/** @throws TypeError, RangeError unless they are up to four different names */
export function checkAxes(axes: readonly string[]): readonly string[] {
  if (!Array.isArray(axes)) throw new TypeError(`"axes" expected an array of names, got ${describe(axes)}`);
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
  /** as they are, for faults that 32 bits do not hold */
  readonly given: ArrayLike<number | bigint>;
  readonly shape: readonly number[];
  readonly axes: readonly string[];
}

/** @throws TypeError, RangeError naming the option */
export function checkTokens(options: Pick<GofOptions, "tokens" | "shape">, { rowCount, axes }: CheckedJudge): CheckedTokens {
  const given = checkTokenArray(options.tokens);
  const shape = options.shape ?? (rowCount > 1 ? [rowCount, given.length / rowCount] : [given.length]);
  if (!Array.isArray(shape)) throw new TypeError(`"shape" expected an array of sizes, got ${describe(shape)}`);
  const product = shape.reduce((total: number, size: unknown) => total * (Number.isInteger(size) && (size as number) > 0 ? (size as number) : NaN), 1);
  if (product !== given.length) throw new RangeError(`"shape" expected positive sizes whose product is the ${given.length} tokens, got [${shape.join(", ")}]`);
  const names = axes ?? (shape.length === 1 && rowCount > 1 ? ["row"] : (AXIS_NAMES[shape.length] ?? []));
  if (shape.length !== names.length) throw new RangeError(`"axes" expected ${shape.length} names for tokens of shape [${shape.join(", ")}], got ${names.join(",") || "none"}`);
  if (rowCount > 1 && shape[0] !== rowCount) {
    throw new RangeError(`"tokens" expected ${rowCount} places on the first axis, one for each row of logits, got shape [${shape.join(", ")}]`);
  }
  return { given, shape: [...shape], axes: names };
}

const INTEGER_KINDS = /^(Big)?(Ui|I)nt(8|16|32|64)Array$/;

function checkTokenArray(tokens: unknown): ArrayLike<number | bigint> {
  const kind = typedArrayKind(tokens);
  const isArray = Array.isArray(tokens);
  if (!isArray && !(kind !== undefined && INTEGER_KINDS.test(kind))) throw new TypeError(`"tokens" expected an array of integers, got ${describe(tokens)}`);
  const given = tokens as ArrayLike<number | bigint>;
  if (given.length === 0) throw new RangeError('"tokens" expected at least one, got none');
  if (isArray) {
    const index = (tokens as readonly unknown[]).findIndex((token) => !Number.isInteger(token));
    if (index >= 0) throw new TypeError(`"tokens[${index}]" expected an integer, got ${describe(given[index])}`);
  }
  return given;
}

export function checkGofOptions(options: GofOptions): { judge: CheckedJudge; tokens: CheckedTokens } {
  checkOptions(options, ["tokens", ...JUDGE_OPTIONS, "shape"]);
  const judge = checkJudge(options);
  return { judge, tokens: checkTokens(options, judge) };
}
