/** Bad inputs on every backend but WebGPU, and those that meet no backend. */
import { describe, expect, it } from "vitest";
import { sampleLogits } from "../src/index.js";
import { describeBackends } from "./each-backend.js";
import { refusals } from "./refusals.js";

describeBackends("refuses", refusals);

describe("sampleLogits refuses", () => {
  it.each([undefined, null, 5, "logits"])("options %s", async (options) => {
    await expect(sampleLogits(options as never)).rejects.toThrow(/^"options" expected an object with logits, got/);
  });

  it("more rows than one call takes", async () => {
    await expect(sampleLogits({ logits: new Float32Array(2 ** 22 + 1), vocabSize: 1, backend: "reference" })).rejects.toThrow(/"rows" expected at most 4194304/);
  });

  it.each([0, -5, 2.5, 2 ** 31, NaN])("vocabSize %s", async (vocabSize) => {
    await expect(sampleLogits({ logits: new Float32Array(5), vocabSize, backend: "reference" })).rejects.toThrow(/"vocabSize" expected an integer in/);
  });
});
