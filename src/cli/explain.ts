/** Every number behind one token's score, from the noise words to the gap to the winner, by the plain rule. */
import { readHead } from "../head/head-reader.js";
import { openSource } from "../head/source.js";
import { readTokenRow } from "../head/token-row.js";
import { widen } from "../matrix.js";
import type { SampleDetail } from "../outcome.js";
import { GUMBEL_OFFSET, PURPOSE_GUMBEL } from "../spec/constants.js";
import { wordAddress } from "../spec/philox.js";
import { bitsFromF32, f32FromBits } from "../spec/float.js";
import { roundHidden, type Head, type LogitOf } from "../spec/logit.js";
import { fix, MASK, reportMargin, reportScore, scoreOf, tauOf, tokenGamma } from "../spec/score.js";
import { scalesLocation, type Drawn } from "./draw.js";
import { ofRow, readWhole, type DrawInputs } from "./options.js";

/** Which token of which draw. */
export interface Place {
  readonly row: number;
  readonly token: number;
  readonly sample: number;
}

/** Words and patterns as hexadecimal text, decimal numbers beside them; null where there is no such number. */
export interface Explanation extends Place {
  readonly sequence: number;
  readonly position: number;
  /** Philox's key and counter of the high word; the low word's counter ends in the next purpose. */
  readonly key: string;
  readonly counter: string;
  readonly high: string;
  readonly low: string;
  /** J: leading zeros of high, at most 31 */
  readonly leadingZeros: number;
  readonly gamma: string;
  /** gamma * 2^-26 - G0 */
  readonly gumbel: number;
  /** int8: null, Z is made of group sums. */
  readonly logitBits: string | null;
  readonly logit: number | null;
  readonly z: string;
  readonly tau: number;
  readonly scoreBits: string;
  readonly score: number | null;
  readonly winner: number;
  /** The row's; when it is not "ok", no score of it was compared. */
  readonly status: SampleDetail["status"];
  /** What the winner is ahead of this token, in logits; 0 for the winner. */
  readonly behind: number | null;
}

/** ROW:TOKEN or ROW:TOKEN:SAMPLE. @throws RangeError */
export function readPlace(text: string): Place {
  const parts = /^(\d+):(\d+)(?::(\d+))?$/.exec(text);
  if (parts === null) throw new RangeError(`"--explain" expected ROW:TOKEN or ROW:TOKEN:SAMPLE, got ${JSON.stringify(text)}`);
  const [row, token, sample] = [parts[1]!, parts[2]!, parts[3] ?? "0"].map((part) => readWhole("--explain", part, 0, 2 ** 32));
  return { row: row!, token: token!, sample: sample! };
}

/** @throws RangeError for a place outside of what is drawn */
export function checkPlace(place: Place, rowCount: number, vocabSize: number, numSamples: number): void {
  if (place.row < rowCount && place.token < vocabSize && place.sample < numSamples) return;
  const ranges = `row < ${rowCount}, token < ${vocabSize}, sample < ${numSamples}`;
  throw new RangeError(`"--explain" expected ${ranges}, got ${place.row}:${place.token}:${place.sample}`);
}

/** drawn: with details, by the reference and logitOf. The head is opened again for the token's row. */
export async function explain(place: Place, inputs: DrawInputs, drawn: Drawn, logitOf: LogitOf): Promise<Explanation> {
  const { z, logitBits } = await logitAt(place, inputs, drawn, logitOf);
  const [sequence, position] = [ofRow(inputs.sequence, place.row), ofRow(inputs.position, place.row)];
  const address = { seed: drawn.seed, sequence, position, sample: place.sample, purpose: PURPOSE_GUMBEL };
  const { high, low, gamma } = tokenGamma(address, place.token);
  const tau = tauOf(inputs.temperature);
  const score = scoreOf(z, gamma, tau);
  const winner = drawn.result.details![place.row * inputs.numSamples + place.sample]!;
  const { key, counter } = wordAddress(address, place.token);
  return {
    ...place,
    sequence,
    position,
    key: key.map((word) => hex(word, 8)).join(" "),
    counter: counter.map((word) => hex(word, 8)).join(" "),
    high: hex(high, 8),
    low: hex(low, 8),
    leadingZeros: Math.clz32(high | 1),
    gamma: hex(gamma, 8),
    gumbel: gamma * 2 ** -26 - GUMBEL_OFFSET,
    logitBits: logitBits === null ? null : hex(logitBits, 8),
    logit: logitBits === null ? null : f32FromBits(logitBits),
    z: hex(z, 16),
    tau,
    scoreBits: hex(score, 16),
    score: score === MASK || winner.status === "invalid" ? null : reportScore(score, tau),
    winner: winner.token,
    status: winner.status,
    behind: score === MASK || winner.scoreBits === null ? null : reportMargin(winner.scoreBits, score),
  };
}

/** Two's complement, lower case. */
export function hex(value: number | bigint, digits: number): string {
  return BigInt.asUintN(4 * digits, BigInt(value)).toString(16).padStart(digits, "0");
}

async function logitAt({ row, token }: Place, inputs: DrawInputs, { matrix }: Drawn, logitOf: LogitOf): Promise<ReturnType<LogitOf>> {
  const { data, dtype } = matrix.values;
  const values = widen({ data: data.subarray(row * matrix.columns, (row + 1) * matrix.columns), dtype });
  if (inputs.weights === undefined) {
    const logitBits = bitsFromF32(values[token]!);
    return { z: fix(logitBits).z, logitBits };
  }
  const head = await readRow(inputs, token);
  const hidden = values.map((value) => roundHidden(head.dtype, value));
  return logitOf(head, hidden, 0);
}

async function readRow({ weights, tensor, scales }: DrawInputs, token: number): Promise<Head> {
  const source = await openSource(weights!);
  try {
    const reader = await readHead(source, tensor, scalesLocation(scales));
    try {
      return await readTokenRow(reader, token);
    } finally {
      await reader.close();
    }
  } finally {
    await source.close();
  }
}
