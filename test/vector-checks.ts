/**
 * The known answers of test/vectors, as checks of an implementation of the oracle's functions: one a file, each returns what
 * differs. They take the implementation as an argument, so that deliberately broken ones can be put to the same test.
 */
import { readFileSync } from "node:fs";
import type * as Oracle from "../src/oracle.js";
import { f16ToF32Bits, f32BitsToBf16, f32BitsToF16 } from "../src/spec/float.js";

export type OracleFunctions = typeof Oracle & {
  f32BitsToBf16: typeof f32BitsToBf16;
  f32BitsToF16: typeof f32BitsToF16;
  f16ToF32Bits: typeof f16ToF32Bits;
};

export function readVectors(name: string): any {
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), "utf8"));
}

export const words = (text: string): number[] => text.split(" ").map((word) => parseInt(word, 16));
export const wide = (text: string): bigint[] => text.split(" ").map((word) => BigInt(`0x${word}`));
export const hex = (value: number | bigint, digits: number): string =>
  (typeof value === "bigint" ? BigInt.asUintN(64, value) : value >>> 0).toString(16).padStart(digits, "0");
export const f32Values = (text: string): Float32Array => new Float32Array(Uint32Array.from(words(text)).buffer);
export const f64Value = (text: string): number => new Float64Array(BigUint64Array.of(BigInt(`0x${text}`)).buffer)[0]!;
const f64Hex = (value: number): string => hex(new BigUint64Array(Float64Array.of(value).buffer)[0]!, 16);

/** Collects what differs, and how many answers there were: an empty file must not pass. */
class Comparison {
  readonly failures: string[] = [];
  #count = 0;
  constructor(readonly name: string) {}
  same(what: string, expected: unknown, got: unknown): void {
    this.#count++;
    if (expected !== got && this.failures.length < 20) this.failures.push(`${this.name}: ${what}: expected ${expected}, got ${got}`);
  }
  refused(what: string, attempt: () => unknown): void {
    this.#count++;
    try {
      attempt();
    } catch {
      return;
    }
    this.failures.push(`${this.name}: ${what}: expected an error, got none`);
  }
  done(): string[] {
    if (this.#count === 0) this.failures.push(`${this.name}: no known answers`);
    return this.failures;
  }
}

type Check = (oracle: OracleFunctions) => string[];

export const VECTOR_CHECKS: Readonly<Record<string, Check>> = {
  philox(oracle) {
    const compare = new Comparison("philox");
    for (const { counter, key, output } of readVectors("philox").cases) {
      const got = oracle.philox4x32(words(counter) as never, words(key) as never);
      compare.same(`counter ${counter} key ${key}`, output, got.map((word) => hex(word, 8)).join(" "));
    }
    return compare.done();
  },

  words(oracle) {
    const compare = new Comparison("words");
    for (const line of readVectors("words").cases as string[]) {
      const [seed, ...rest] = line.split(" ");
      const [sequence, position, sample, purpose, token, word] = rest.map((text) => parseInt(text, 16)) as [number, number, number, number, number, number];
      compare.same(line, word, oracle.tokenWord({ seed: BigInt(`0x${seed}`), sequence, position, sample, purpose }, token));
    }
    return compare.done();
  },

  gamma26(oracle) {
    const compare = new Comparison("gamma26");
    const { hi, lo, gamma, q32 } = readVectors("gamma26");
    const [high, low] = [words(hi), words(lo)];
    words(gamma).forEach((expected, i) => compare.same(`gamma26(${hex(high[i]!, 8)}, ${hex(low[i]!, 8)})`, expected, oracle.gamma26(high[i]!, low[i]!)));
    const t = words(q32.t);
    words(q32.q).forEach((expected, i) => compare.same(`q32(${hex(t[i]!, 8)})`, expected, oracle.q32(t[i]!)));
    return compare.done();
  },

  "noise-digest"(oracle) {
    const compare = new Comparison("noise-digest");
    for (const { seed, sequence, position, sample, purpose, tokens, digest } of readVectors("noise-digest").cases) {
      const draw = { seed: BigInt(`0x${seed}`), sequence: parseInt(sequence, 16), position: parseInt(position, 16), sample: parseInt(sample, 16), purpose: parseInt(purpose, 16) };
      let folded = 0;
      for (let token = 0; token < tokens; token++) folded = (Math.imul(folded, 0x01000193) ^ oracle.tokenGamma(draw, token).gamma) >>> 0;
      compare.same(`seed ${seed}`, digest, hex(folded, 8));
    }
    return compare.done();
  },

  rounding(oracle) {
    const compare = new Comparison("rounding");
    const { toBf16, toF16, fromF16, operands } = readVectors("rounding");
    const lists = [
      ["f32 to bf16", words(toBf16.f32), words(toBf16.bf16), oracle.f32BitsToBf16],
      ["f32 to f16", words(toF16.f32), words(toF16.f16), oracle.f32BitsToF16],
      ["f16 to f32", words(fromF16.f16), words(fromF16.f32), oracle.f16ToF32Bits],
    ] as const;
    for (const [name, from, to, convert] of lists) from.forEach((bits, i) => compare.same(`${name} ${hex(bits, 8)}`, to[i], convert(bits)));
    for (const [dtypes, list] of [[["bf16", "int8"], operands.bf16], [["f32"], operands.f32]] as const) {
      const expected = words(list.operand);
      for (const dtype of dtypes as readonly ("bf16" | "int8" | "f32")[]) {
        f32Values(list.f32).forEach((value, i) => compare.same(`${dtype} operand ${value}`, expected[i], bitsOf(oracle.roundHidden(dtype, value))));
      }
    }
    return compare.done();
  },

  fix(oracle) {
    const compare = new Comparison("fix");
    const { bits, z, fromF64 } = readVectors("fix");
    const fixed = (logit: number): string => {
      const { z: value, valid } = oracle.fix(logit);
      return valid ? hex(value, 16) : "invalid";
    };
    const [logits, expected] = [words(bits), (z as string).split(" ")];
    logits.forEach((logit, i) => compare.same(hex(logit, 8), expected[i], fixed(logit)));
    const fromWide = (fromF64.z as string).split(" ");
    (fromF64.bits as string).split(" ").forEach((logit, i) => compare.same(`f64 ${logit}`, fromWide[i], fixed(bitsOf(f64Value(logit)))));
    return compare.done();
  },

  tau(oracle) {
    const compare = new Comparison("tau");
    const { T, tau } = readVectors("tau");
    const expected = words(tau);
    (T as string).split(" ").forEach((bits, i) => compare.same(bits, expected[i], oracle.tauOf(f64Value(bits))));
    return compare.done();
  },

  score(oracle) {
    const compare = new Comparison("score");
    const { Z, gamma, tau, S } = readVectors("score");
    const [gammas, taus, expected] = [words(gamma), words(tau), (S as string).split(" ")];
    wide(Z).forEach((z, i) => {
      const got = hex(oracle.scoreOf(BigInt.asIntN(64, z), gammas[i]!, taus[i]!), 16);
      compare.same(`Z ${hex(z, 16)} gamma ${gammas[i]} tau ${taus[i]}`, expected[i], got);
    });
    return compare.done();
  },

  dot(oracle) {
    const compare = new Comparison("dot");
    for (const { name, dtype, D, w, x, logit } of readVectors("dot").cases) {
      const head = { dtype, vocabSize: 1, hiddenSize: D, weights: weightArray(dtype, w) } as const;
      const hidden = operandArray(dtype, x).map((value) => oracle.roundHidden(dtype, value));
      compare.same(`${name} ${dtype} D=${D}`, logit, hex(oracle.logitOf(head, hidden, 0).logitBits!, 8));
    }
    return compare.done();
  },

  int8(oracle) {
    const compare = new Comparison("int8");
    const { scaled, rows } = readVectors("int8");
    const [sums, scales, expected] = [f32Values(scaled.sum), f32Values(scaled.scale), (scaled.zGroup as string).split(" ")];
    sums.forEach((sum, i) => compare.same(`${sum} * ${scales[i]}`, expected[i], hex(oracle.scaledSum(sum, scales[i]!), 16)));
    for (const row of rows) {
      const head = { dtype: "int8", vocabSize: 1, hiddenSize: row.D, weights: weightArray("int8", row.w), scales: f32Values(row.scales), groupSize: row.G } as const;
      compare.same(`D=${row.D} G=${row.G}`, row.Z, hex(oracle.logitOf(head, operandArray("bf16", row.x), 0).z, 16));
    }
    return compare.done();
  },

  "int8 groups"(oracle) {
    const compare = new Comparison("int8 groups");
    for (const { sums, scales, Z } of readVectors("int8").groups) {
      // A column whose product is the group's sum, the others zero: 1 * sum in the first lane of each group.
      const [sumOfGroup, scaleOfGroup] = [f32Values(sums), f32Values(scales)];
      const [hidden, weights] = [new Float32Array(32 * sumOfGroup.length), new Int8Array(32 * sumOfGroup.length)];
      sumOfGroup.forEach((sum, group) => {
        hidden[32 * group] = sum;
        weights[32 * group] = 1;
      });
      const head = { dtype: "int8", vocabSize: 1, hiddenSize: hidden.length, weights, scales: scaleOfGroup, groupSize: 32 } as const;
      compare.same(`sums ${sums}`, Z, hex(oracle.logitOf(head, hidden, 0).z, 16));
    }
    return compare.done();
  },

  sample(oracle) {
    const compare = new Comparison("sample");
    for (const problem of readVectors("sample").problems) {
      const head = vectorHead(problem);
      problem.hidden.forEach((hiddenBits: string, row: number) => {
        const z = oracle.rowZ(head, f32Values(hiddenBits));
        compare.same(`${problem.name} Z`, problem.Z[row], Array.from(z, (value) => hex(value, 16)).join(" "));
        for (const call of problem.calls) compareDraws(compare, oracle, problem.name, z, call, call.rows[row]);
      });
    }
    return compare.done();
  },

  logits(oracle) {
    const compare = new Comparison("logits");
    for (const { name, logits, calls } of readVectors("logits").cases) {
      const z = oracle.rowFromLogits(f32Values(logits));
      for (const call of calls) compareDraws(compare, oracle, name, z, call, call);
    }
    return compare.done();
  },

  "without-replacement"(oracle) {
    const compare = new Comparison("without-replacement");
    for (const { name, logits, T, seed, sequence, position, sample, k, tokens, scoreBits } of readVectors("without-replacement").cases) {
      const request = { seed: BigInt(`0x${seed}`), sequence: parseInt(sequence, 16), position: parseInt(position, 16), tau: oracle.tauOf(f64Value(T)) };
      const drawn = oracle.drawWithoutReplacement(oracle.rowFromLogits(f32Values(logits)), request, parseInt(sample, 16), k);
      compare.same(`${name}, tokens`, tokens.join(" "), drawn.map(({ token }) => token).join(" "));
      compare.same(`${name}, scores`, scoreBits, drawn.map(({ score }) => hex(score, 16)).join(" "));
    }
    return compare.done();
  },

  report(oracle) {
    const compare = new Comparison("report");
    const { score, margin } = readVectors("report");
    const [taus, scores] = [words(score.tau), (score.score as string).split(" ")];
    wide(score.S).forEach((s, i) => compare.same(`score ${hex(s, 16)}`, scores[i], f64Hex(oracle.reportScore(BigInt.asIntN(64, s), taus[i]!))));
    const [runnersUp, margins] = [wide(margin.runnerUp), (margin.margin as string).split(" ")];
    wide(margin.winner).forEach((s, i) =>
      compare.same(`margin ${hex(s, 16)}`, margins[i], f64Hex(oracle.reportMargin(BigInt.asIntN(64, s), BigInt.asIntN(64, runnersUp[i]!)))),
    );
    return compare.done();
  },

  request(oracle) {
    const compare = new Comparison("request");
    const { good, malformed } = readVectors("request");
    for (const { samples, rows, words: expected } of good) {
      const decoded = rows.map((row: Record<string, string>) => ({
        seed: BigInt(`0x${row["seed"]}`),
        sequence: parseInt(row["sequence"]!, 16),
        position: parseInt(row["position"]!, 16),
        tau: parseInt(row["tau"]!, 16),
        firstSample: parseInt(row["firstSample"]!, 16),
        purpose: Number(row["purpose"]),
      }));
      const encoded = oracle.encodeRequest(decoded, samples);
      compare.same("words", expected, Array.from(encoded, (word) => hex(word, 8)).join(" "));
      const show = (request: unknown): string => JSON.stringify(request, (_, value) => (typeof value === "bigint" ? String(value) : value));
      compare.same("read back", show({ samples, rows: decoded }), show(oracle.decodeRequest(Uint32Array.from(words(expected)))));
    }
    for (const { why, words: text } of malformed) compare.refused(why, () => oracle.decodeRequest(Uint32Array.from(text === "" ? [] : words(text))));
    return compare.done();
  },
};

function compareDraws(compare: Comparison, oracle: OracleFunctions, name: string, z: Oracle.RowZ, call: any, row: any): void {
  const tau = oracle.tauOf(f64Value(call.T));
  compare.same(`${name} tau`, call.tau, hex(tau, 8));
  const request = {
    seed: BigInt(`0x${row.seed}`),
    sequence: parseInt(row.sequence, 16),
    position: parseInt(row.position, 16),
    tau,
    firstSample: parseInt(call.firstSample, 16),
  };
  row.draws.forEach((expected: any, sample: number) => {
    compare.same(`${name} T=${call.T} sample ${sample}`, drawText(expected), shownDraw(oracle, oracle.drawRow(z, request, sample), tau));
  });
}

/** A draw of a vector file as one line. */
export function drawText(draw: any): string {
  if (draw.outcome !== undefined) return draw.outcome;
  return [draw.token, draw.scoreBits, draw.runnerUp ?? -1, draw.runnerUpScoreBits ?? "-", draw.score, draw.margin ?? "-"].join(" ");
}

/** The same line from a decision. */
export function shownDraw(oracle: Pick<OracleFunctions, "reportScore" | "reportMargin">, draw: Oracle.Draw, tau: number): string {
  if (draw.status !== "ok") return draw.status;
  const second = draw.runnerUp < 0 ? ["-", "-"] : [hex(draw.runnerUpScore, 16), f64Hex(oracle.reportMargin(draw.score, draw.runnerUpScore))];
  return [draw.token, hex(draw.score, 16), draw.runnerUp, second[0], f64Hex(oracle.reportScore(draw.score, tau)), second[1]].join(" ");
}

export function vectorHead(problem: any): Oracle.Head & { weights: Oracle.WeightData } {
  const head = { dtype: problem.dtype, vocabSize: problem.V, hiddenSize: problem.D, weights: weightArray(problem.dtype, problem.weights.join(" ")) };
  return problem.dtype === "int8" ? { ...head, scales: f32Values(problem.scales.join(" ")), groupSize: problem.G } : head;
}

export function weightArray(dtype: string, bits: string): Oracle.WeightData {
  if (dtype === "f32") return f32Values(bits);
  return dtype === "int8" ? Int8Array.from(words(bits)) : Uint16Array.from(words(bits));
}

/** Operands given as the bits of their own format. */
function operandArray(dtype: string, bits: string): Float32Array {
  if (dtype === "f32") return f32Values(bits);
  return new Float32Array(Uint32Array.from(words(bits), (word) => (dtype === "f16" ? f16ToF32Bits(word) : word << 16)).buffer);
}

function bitsOf(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0]!;
}
