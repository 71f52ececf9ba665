/** Where logits come from, for those who judge: a head and its hidden states, or logits that were given. */
import type { HeadShape } from "../../backend.js";
import type { HeadReader } from "../../head/head-reader.js";
import { readTokenRow } from "../../head/token-row.js";
import { bitsFromF32 } from "../../spec/float.js";
import { logitOf } from "../../spec/logit.js";
import { fix } from "../../spec/score.js";
import { ruleDistance, smallOperands, type LogitError, type TokenSize } from "../logit-error.js";
import { hiddenRow, NORM_SLACK, refuseNotFinite, widenWeights, type HiddenRow } from "./operands.js";
import { createSweep } from "./sweep.js";

/** All logits of a row. */
export interface RowLogits {
  readonly row: number;
  /** f64 [V]; -Infinity for masked tokens, and for those that nobody asked for */
  readonly logits: Float64Array;
  /** How far Z 2^-32 of the rule may be from the logit. */
  distance(token: number): number;
  /** A bound for what the error of a logit depends on. */
  size(token: number): TokenSize;
}

export interface TokenLogit extends TokenSize {
  /** Z by the rule, Q31.32 */
  readonly z: bigint;
}

export interface LogitSource {
  /** null for given logits */
  readonly shape: HeadShape | null;
  readonly rowCount: number;
  readonly vocabSize: number;
  /** A row with what no logit may be made of: it has no token. */
  isInvalid(row: number): boolean;
  /** The logit -Infinity of given logits. */
  isMasked(row: number, token: number): boolean;
  /** One logit; its size is nearer than by RowLogits. */
  at(row: number, token: number): Promise<TokenLogit>;
  /** rows: none of them invalid. isWanted: tokens of no interest may stay out. */
  all(rows: readonly number[], isWanted: (token: number) => boolean): Promise<RowLogits[]>;
}

/** values: f32 [rowCount, V] */
export function givenLogits(values: Float32Array, vocabSize: number): LogitSource {
  const rowOf = (row: number) => values.subarray(row * vocabSize, (row + 1) * vocabSize);
  const sizeOf = (logit: number): TokenSize => ({ logit, sum: Math.abs(logit), small: 0 });
  return {
    shape: null,
    rowCount: values.length / vocabSize,
    vocabSize,
    isInvalid: (row) => !rowOf(row).every((logit) => logit < Infinity),
    isMasked: (row, token) => rowOf(row)[token] === -Infinity,
    async at(row, token) {
      const logit = rowOf(row)[token]!;
      return { ...sizeOf(logit), z: fix(bitsFromF32(logit)).z };
    },
    all: async (rows) =>
      rows.map((row) => {
        const logits = Float64Array.from(rowOf(row));
        return { row, logits, distance: () => 2 ** -32, size: (token) => sizeOf(logits[token]!) };
      }),
  };
}

/** given: f32 [rowCount, D]. error: says what counts in a sum of magnitudes. */
export function headLogits(reader: HeadReader, given: Float32Array, error: LogitError, signal?: AbortSignal): LogitSource {
  const { shape } = reader;
  const { vocabSize, hiddenSize } = shape;
  const sweep = createSweep(reader, signal);
  // Most rows are never looked at, and those that are, several times in a row.
  let last: { readonly row: number; readonly state: HiddenRow | null } | null = null;
  const hidden = (row: number): HiddenRow | null => {
    if (last?.row !== row) last = { row, state: hiddenRow(shape, given.subarray(row * hiddenSize, (row + 1) * hiddenSize)) };
    return last.state;
  };
  return {
    shape,
    rowCount: given.length / hiddenSize,
    vocabSize,
    isInvalid: (row) => hidden(row) === null,
    isMasked: () => false,
    async at(row, token) {
      const head = await readTokenRow(reader, token, signal);
      const weights = widenWeights(shape, head.weights, head.scales ?? null);
      refuseNotFinite(weights, token);
      return { ...exactSize(shape, weights, hidden(row)!, error.floor), z: logitOf(head, hidden(row)!.canonical, 0).z };
    },
    async all(rows, isWanted) {
      const states = rows.map((row) => hidden(row)!);
      const { logits, norms } = await sweep(states, isWanted);
      return rows.map((row, index) => rowOfHead(shape, row, logits[index]!, norms, states[index]!.norm, error.floor));
    },
  };
}

function exactSize(shape: HeadShape, weights: Float64Array, hidden: HiddenRow, floor: number): TokenSize {
  const magnitude = (value: number): number => (value === 0 ? 0 : Math.max(floor, Math.abs(value)));
  let [logit, sum, squares] = [0, 0, 0];
  hidden.values.forEach((value, column) => {
    const weight = weights[column]!;
    logit += weight * value;
    sum += magnitude(weight) * magnitude(value);
    squares += weight * weight;
  });
  return { logit, sum, small: smallOperands(shape, hidden.norm)(Math.sqrt(squares) * NORM_SLACK) };
}

function rowOfHead(shape: HeadShape, row: number, logits: Float64Array, norms: Float64Array, hiddenNorm: number, floor: number): RowLogits {
  // An operand that counts as no less than the floor adds at most the floor in each column.
  const added = floor * Math.sqrt(shape.hiddenSize);
  const distance = ruleDistance(shape, hiddenNorm);
  const small = smallOperands(shape, hiddenNorm);
  return {
    row,
    logits,
    distance: (token) => distance(norms[token]!),
    size: (token) => ({ logit: logits[token]!, sum: (norms[token]! + added) * (hiddenNorm + added), small: small(norms[token]!) }),
  };
}
