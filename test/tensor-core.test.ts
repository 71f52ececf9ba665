/** The sums of Hopper's tensor cores, against the known answers of the independent reader of docs/spec.md. */
import { describe, expect, it } from "vitest";
import { tensorCoreDot, tensorCoreLogit, tensorCoreOperands } from "../src/spec/tensor-core.js";
import { hex, readVectors, weightArray } from "./vector-checks.js";

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

  it("come as a number too", () => {
    const one = dtype === "bf16" ? 0x3f80 : 0x3c00;
    const ones = tensorCoreOperands(dtype, new Uint16Array(37).fill(one));
    expect(tensorCoreLogit(ones, ones)).toBe(37);
    expect(tensorCoreLogit(tensorCoreOperands(dtype, new Uint16Array(0)), tensorCoreOperands(dtype, new Uint16Array(0)))).toBe(0);
  });
});
