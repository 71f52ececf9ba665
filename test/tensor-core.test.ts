/** The sums of Hopper's tensor cores, against the known answers of the independent reader of docs/spec.md. */
import { describe, expect, it } from "vitest";
import { roundHidden, rowZ } from "../src/spec/logit.js";
import { tensorCoreDot, tensorCoreLogit, tensorCoreLogitOf, tensorCoreOperands } from "../src/spec/tensor-core.js";
import { f32Values, hex, readVectors, vectorHead, weightArray } from "./vector-checks.js";

interface Case {
  readonly name: string;
  readonly D: number;
  readonly w: string;
  readonly x: string;
  readonly logit: string;
}

describe.each(["bf16", "f16"] as const)("tensor-core sums of %s", (dtype) => {
  const cases = readVectors("tensor-core")[dtype] as Case[];
  const operands = (list: string) => tensorCoreOperands(dtype, weightArray(dtype, list) as Uint16Array);

  it("are the known ones", () => {
    expect(cases.length).toBeGreaterThan(60);
    expect(cases.map(({ name, w, x }) => `${name} ${hex(tensorCoreDot(operands(w), operands(x)), 8)}`)).toEqual(cases.map(({ name, logit }) => `${name} ${logit}`));
  });

  it("are the known ones with NaN, infinities and -0", () => {
    const special = readVectors("tensor-core").special[dtype] as Case[];
    expect(special.length).toBeGreaterThan(15);
    expect(special.map(({ name, w, x }) => `${name} ${hex(tensorCoreDot(operands(w), operands(x)), 8)}`)).toEqual(special.map(({ name, logit }) => `${name} ${logit}`));
  });

  it("begin with a given f32", () => {
    const one = operands(dtype === "bf16" ? "3f80" : "3c00");
    expect(hex(tensorCoreDot(one, one, 0x3f800000), 8)).toBe("40000000");
    expect(hex(tensorCoreDot(one, one, 0xbf800000), 8)).toBe("00000000");
  });

  it("come as a number too", () => {
    const one = dtype === "bf16" ? 0x3f80 : 0x3c00;
    const ones = tensorCoreOperands(dtype, new Uint16Array(37).fill(one));
    expect(tensorCoreLogit(ones, ones)).toBe(37);
    expect(tensorCoreLogit(tensorCoreOperands(dtype, new Uint16Array(0)), tensorCoreOperands(dtype, new Uint16Array(0)))).toBe(0);
  });
});

describe("tensor-core sums of tiny terms", () => {
  it("are those of an H200", () => {
    const { measured } = readVectors("tensor-core");
    const operands = (list: string) => tensorCoreOperands("bf16", weightArray("bf16", list) as Uint16Array);
    expect(measured.length).toBe(20);
    expect(measured.map(({ w, x, c }: any) => hex(tensorCoreDot(operands(w), operands(x), parseInt(c, 16)), 8))).toEqual(measured.map(({ logit }: any) => logit));
  });
});

describe("the logits of a head by tensor-core sums", () => {
  it.each<any>(readVectors("tensor-core").problems)("$dtype $name", (problem) => {
    const head = vectorHead(problem);
    problem.hidden.forEach((bits: string, row: number) => {
      const hidden = f32Values(bits).map((value) => roundHidden(head.dtype, value));
      const logits = Array.from({ length: head.vocabSize }, (_, token) => hex(tensorCoreLogitOf(head, hidden, token).logitBits!, 8));
      expect(logits.join(" ")).toBe(problem.logits[row]);
      expect(Array.from(rowZ(head, f32Values(bits), tensorCoreLogitOf), (z) => hex(z, 16)).join(" ")).toBe(problem.Z[row]);
    });
  });
});
