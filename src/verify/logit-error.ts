/**
 * How far an engine's logits may be from those of docs/spec.md, section 4, so that it may have drawn another token than the rule's and still
 * be right. Of a head: err = absolute + relative * sum |w x| + rounding * |logit|. Of given logits: absolute + (relative + rounding) * |logit|.
 *
 * With u = 2^-24, a term that is rounded n times on its way into a sum is off by at most g(n) = n u / (1 - n u) of itself (Higham, *Accuracy and
 * Stability of Numerical Algorithms*, 2002, lemma 3.1), whatever the order of the sum. So a sum is off by at most g(n) sum |w x|.
 */
import type { HeadShape } from "../backend.js";
import { describe } from "../describe.js";
import { readOptions } from "./guards.js";
import { isRecord } from "./values.js";
import { CANON_EXPONENT_BF16, CANON_EXPONENT_F32 } from "../spec/constants.js";

export interface LogitError {
  /** an arithmetic of ARITHMETICS, or "given" */
  readonly name: string;
  readonly absolute: number;
  readonly relative: number;
  readonly rounding: number;
  /** Whether operands that read as 0 by section 4.1 may count in the engine: see smallOperands. */
  readonly hasSmall: boolean;
  /** In sum |w x| an operand that is not 0 counts as no less. */
  readonly floor: number;
}

export const ARITHMETICS = ["none", "f32", "hopper", "bf16"] as const;
export type Arithmetic = (typeof ARITHMETICS)[number];

/** err in numbers: absolute, and relative to sum |w x|, or to |logit| of given logits. */
export type LogitErrorInput = Arithmetic | { readonly absolute: number; readonly relative: number };

const UNIT = 2 ** -24;
/** Half the distance of bf16 numbers, relative to the smaller: 8 significant bits. */
const BF16_UNIT = 2 ** -8;
/** A logit becomes an integer of 2^-32, toward zero, on both sides: two that are e apart come out at most e + 2^-32 apart. */
const TRUNCATION = 2 ** -32;
/** Covers the f64 roundings of sum |w x| (D <= 2^20 terms) and of these formulas, and, in an absolute error, results below 2^-126. */
const SLACK = 1 + 2 ** -20;
/** The smallest normal numbers: a subnormal counts as this in a step of a tensor core (section 10). */
const SMALLEST_NORMAL: Readonly<Partial<Record<HeadShape["dtype"], number>>> = { bf16: 2 ** -126, f16: 2 ** -14 };

const ZERO: LogitError = { name: "none", absolute: 0, relative: 0, rounding: 0, hasSmall: false, floor: 0 };

/** g(n) */
const rounded = (times: number): number => (times * UNIT) / (1 - times * UNIT);

/**
 * shape: of the head, null for given logits. Default: f32 of a head, none of given logits.
 * @throws TypeError, RangeError for an error that does not suit
 */
export function logitErrorOf(input: LogitErrorInput | undefined, shape: HeadShape | null): LogitError {
  const name = input === undefined ? (shape === null ? "none" : "f32") : checkLogitError(input);
  if (typeof name === "object") return name;
  const refusal = refusalOf(name, shape);
  if (refusal !== null) throw new RangeError(`"logitError" expected ${refusal}, got ${name}`);
  if (name === "none") return ZERO;
  if (shape === null) return BF16_OF_GIVEN;
  if (name === "hopper") return hopperError(shape);
  const relative = f32Relative(shape) * SLACK;
  const absolute = (TRUNCATION + ruleError(shape).absolute) * SLACK;
  const sums = { ...ZERO, name, absolute, relative, hasSmall: true };
  // The f32 sum is rounded once: by at most BF16_UNIT of itself, and it is at most |logit| + the errors before.
  return name === "f32" ? sums : { ...sums, absolute: absolute * (1 + BF16_UNIT), relative: relative * (1 + BF16_UNIT), rounding: BF16_UNIT };
}

/**
 * The error where it is given in numbers, or the name of an arithmetic.
 * @throws TypeError, RangeError for anything else
 */
export function checkLogitError(input: LogitErrorInput): LogitError | Arithmetic {
  if (isRecord(input)) return givenError(readOptions(input, ["absolute", "relative"], "logitError"));
  if (ARITHMETICS.includes(input)) return input;
  const Kind = typeof input === "string" ? RangeError : TypeError;
  throw new Kind(`"logitError" expected ${ARITHMETICS.join(", ")} or { absolute, relative }, got ${describe(input)}`);
}

function givenError({ absolute, relative }: { readonly absolute: number; readonly relative: number }): LogitError {
  for (const [name, value] of Object.entries({ absolute, relative })) {
    if (typeof value !== "number") throw new TypeError(`"logitError.${name}" expected a number, got ${describe(value)}`);
    if (!(value >= 0 && value < Infinity)) throw new RangeError(`"logitError.${name}" expected a finite number of 0 or more, got ${value}`);
  }
  return { ...ZERO, name: "given", absolute, relative };
}

/** The errors of all arithmetics that suit such a head, or given logits (null): but for "none", from the least on. */
export function namedErrors(shape: HeadShape | null): readonly LogitError[] {
  return ARITHMETICS.filter((name) => name !== "none" && refusalOf(name, shape) === null).map((name) => logitErrorOf(name, shape));
}

/** Why an arithmetic does not suit; null where it does. */
function refusalOf(name: Arithmetic, shape: HeadShape | null): string | null {
  if (shape === null) return name === "none" || name === "bf16" ? null : "none, bf16 or { absolute, relative } for given logits, whose sums nobody knows";
  if (name !== "hopper") return null;
  if (SMALLEST_NORMAL[shape.dtype] === undefined) return `none, f32, bf16 or { absolute, relative } for weights of ${shape.dtype}`;
  return shape.hiddenSize > 2 ** 17 ? "none, f32, bf16 or { absolute, relative } for more than 2^17 columns" : null;
}

/** Of given logits, which are rounded once. */
const BF16_OF_GIVEN: LogitError = { ...ZERO, name: "bf16", absolute: TRUNCATION * SLACK, rounding: BF16_UNIT };

/**
 * Of the rule's own logits, against the sums without rounding. On a term's way: a lane adds ceil(D / 32) products, the first of them to 0
 * exactly; the tree adds five times; f32 products round, other products are exact. An int8 head cuts the sum of each group at 2^-32.
 */
export function ruleError({ dtype, hiddenSize, groupSize }: HeadShape): { readonly relative: number; readonly absolute: number } {
  const columns = dtype === "int8" ? groupSize : hiddenSize;
  const groups = dtype === "int8" ? hiddenSize / groupSize : 0;
  return { relative: rounded(Math.ceil(columns / 32) + 4 + (dtype === "f32" ? 1 : 0)), absolute: groups * TRUNCATION };
}

/** Roundings of a term before it is added: none of an exact product; an int8 weight times its scale, and that times the hidden state. */
const PRODUCT_ROUNDINGS = { bf16: 0, f16: 0, f32: 1, int8: 2 } as const;

/** f32 sums in any order, split in any way: D terms need D - 1 additions, and a term meets all of them at worst. Both sides' errors. */
function f32Relative(shape: HeadShape): number {
  return rounded(shape.hiddenSize - 1 + PRODUCT_ROUNDINGS[shape.dtype]) + ruleError(shape).relative;
}

/**
 * Hopper's tensor cores, steps of 16 columns one after the other in any order: section 10, with sum |w x| in place of |w||x|. Each step cuts 17 terms
 * at 2^(emax - 25), where 2^emax is at most the largest |w x| or the sum before, and so at most sum |w x| (1 + 0.01); then the result at 2^-23.
 */
function hopperError({ dtype, hiddenSize }: HeadShape): LogitError {
  const columns = Math.ceil(hiddenSize / 128) * 128;
  const relative = 1.01 * ((columns / 16) * 5.25 * 2 ** -23 + rounded(columns / 32 + 4));
  return { name: "hopper", absolute: TRUNCATION * SLACK, relative: relative * SLACK, rounding: 0, hasSmall: true, floor: SMALLEST_NORMAL[dtype]! };
}

/** Section 4.1. f16 operands are never small. */
function smallLimit({ dtype }: HeadShape): number {
  if (dtype === "f16") return 0;
  return 2 ** ((dtype === "f32" ? CANON_EXPONENT_F32 : CANON_EXPONENT_BF16) - 127);
}

/** What small operands add to a sum at most: theta sum |x| + theta sum |w| <= theta sqrt(D) (|x| + |w|), of the Euclidean norms. */
export function smallOperands(shape: HeadShape, hiddenNorm: number): (weightNorm: number) => number {
  const factor = smallLimit(shape) * Math.sqrt(shape.hiddenSize) * SLACK;
  return (weightNorm) => factor * (weightNorm + hiddenNorm);
}

/** What is known of one token's sum. */
export interface TokenSize {
  readonly logit: number;
  /** sum |w x|, or |w||x| as a bound; |logit| of a given logit */
  readonly sum: number;
  /** of smallOperands; 0 of a given logit */
  readonly small: number;
}

/** err of one token. */
export function errorOf(error: LogitError, { logit, sum, small }: TokenSize): number {
  return error.absolute + error.relative * sum + error.rounding * Math.abs(logit) + (error.hasSmall ? small : 0);
}

/** How far the rule's Z 2^-32 may be from the f64 sum of the same row's operands as they are. The f64 sum is off by D 2^-53 of itself. */
export function ruleDistance(shape: HeadShape, hiddenNorm: number): (weightNorm: number) => number {
  const { relative, absolute } = ruleError(shape);
  const small = smallOperands(shape, hiddenNorm);
  const slope = (relative + shape.hiddenSize * 2 ** -53) * hiddenNorm * SLACK;
  const fixed = (absolute + TRUNCATION) * SLACK;
  return (weightNorm) => fixed + slope * weightNorm + small(weightNorm);
}
