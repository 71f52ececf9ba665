/** Goodness of fit on a stream of batches. */
import { describe, expect, test } from "vitest";
import { goodnessOfFit } from "../src/verify/gof/gof.js";
import { SequentialGoodnessOfFit } from "../src/verify/gof/sequential.js";
import { normalLogits, sampler, softmax, uniforms } from "./gof-draws.js";

const V = 100;
const logits = normalLogits(V, 1.5, 1);
const options = { logits };
const right = softmax(logits);
const wrong = right.map((p, token) => (token % 10 === 0 ? 1.5 * p : p));

function batches(weights: Float64Array, count: number, size: number, seed: number): Int32Array[] {
  const draw = sampler(weights, uniforms(seed));
  return Array.from({ length: count }, () => Int32Array.from({ length: size }, draw));
}

describe("looks", () => {
  test("come when the draws have doubled, and share alpha", () => {
    const stream = new SequentialGoodnessOfFit({ ...options, alpha: 0.01 });
    for (const tokens of batches(right, 20, 500, 2)) expect(stream.add({ tokens })).toBeNull();
    const last = stream.finish();
    // 500, 1000, 2000, 4000, 8000, and the end.
    expect(last).toMatchObject({ passed: true, looks: 6, draws: 10_000, stoppedAt: 10_000, alpha: 0.01 });
    expect(last.tests.reduce((sum, { threshold }) => sum + threshold, 0)).toBeCloseTo(0.01 / 6, 12);
    expect(stream.finish()).toBe(last);
  });

  test("stop at the first alarm", () => {
    const stream = new SequentialGoodnessOfFit(options);
    const all = batches(wrong, 40, 2000, 3);
    const at = all.findIndex((tokens) => stream.add({ tokens }) !== null);
    expect(at).toBeGreaterThan(0);
    const found = stream.finish();
    expect(found).toMatchObject({ passed: false, stoppedAt: 2000 * (at + 1) });
    expect(stream.add({ tokens: all[0]! })).toBe(found);
  });

  test("a token that cannot be drawn stops it at once, between looks", () => {
    const stream = new SequentialGoodnessOfFit(options);
    for (const tokens of batches(right, 3, 100, 4)) expect(stream.add({ tokens })).toBeNull();
    expect(stream.add({ tokens: [1, V] })).toMatchObject({ passed: false, stoppedAt: 302, tests: [{ name: "support" }] });
  });

  test("one batch and its end spend all of alpha", () => {
    const stream = new SequentialGoodnessOfFit({ ...options, alpha: 0.01 });
    const [tokens] = batches(right, 1, 3000, 5);
    stream.add({ tokens: tokens! });
    const { tests, looks } = stream.finish();
    expect(looks).toBe(2);
    expect(tests.reduce((sum, { threshold }) => sum + threshold, 0)).toBeCloseTo(0.005, 12);
  });
});

describe("batches", () => {
  test("follow each other along the last axis", () => {
    const tokens = batches(right, 1, 4 * 300, 6)[0]!;
    const stream = new SequentialGoodnessOfFit(options);
    const part = (from: number, to: number) => ({ tokens: Int32Array.from({ length: 4 * (to - from) }, (_, index) => tokens[Math.floor(index / (to - from)) * 300 + from + (index % (to - from))]!), shape: [4, to - from] });
    stream.add(part(0, 100));
    stream.add(part(100, 250));
    stream.add(part(250, 300));
    const whole = goodnessOfFit({ ...options, tokens, shape: [4, 300] });
    const { bins, tail, tests } = stream.finish();
    expect({ bins, tail }).toEqual({ bins: whole.bins, tail: whole.tail });
    expect(tests.map(({ name, statistic }) => [name, statistic])).toEqual(whole.tests.map(({ name, statistic }) => [name, statistic]));
  });

  test("are copied, as are the logits", () => {
    const own = logits.slice();
    const stream = new SequentialGoodnessOfFit({ logits: own });
    const [first, second] = batches(right, 2, 1000, 7);
    const tokens = first!.slice();
    stream.add({ tokens });
    tokens.fill(0);
    own.fill(0);
    stream.add({ tokens: second! });
    expect(stream.finish().passed).toBe(true);
  });

  test("of another shape are refused, and nothing of them is taken", () => {
    const stream = new SequentialGoodnessOfFit(options);
    stream.add({ tokens: [1, 2, 3, 4], shape: [2, 2] });
    expect(() => stream.add({ tokens: [1, 2, 3], shape: [3, 1] })).toThrow(/^"shape" expected \[2, sample\] as in the first batch, got \[3, 1\]$/);
    expect(() => stream.add({ tokens: [1, 2, 3] })).toThrow(RangeError);
    expect(() => stream.add({ tokens: [0.5], shape: [1, 1] })).toThrow(TypeError);
    expect(stream.finish().draws).toBe(4);
  });

  test("there must be one", () => {
    expect(() => new SequentialGoodnessOfFit(options).finish()).toThrow(/^"tokens" expected at least one batch, got none$/);
    expect(() => new SequentialGoodnessOfFit({ ...options, alpha: 2 })).toThrow(RangeError);
    expect(() => new SequentialGoodnessOfFit({ ...options, tokens: [1] } as never)).toThrow(/^"options" expected only logits/);
    expect(() => new SequentialGoodnessOfFit(options).add({ token: [1] } as never)).toThrow(/^"options" expected only tokens, shape, got token$/);
  });
});
