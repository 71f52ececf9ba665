/** Files of CUDA kernels that were cut or spoilt are refused: CUDA itself would believe them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { openFatbin } from "../gpu/cuda/fatbin.js";
import { freshFatbin } from "../scripts/build-cuda.mjs";

const fatbin = Uint8Array.from({ length: 600 }, (_, index) => (index * 37) & 255);
const whole = Uint8Array.of(...fatbin, ...createHash("sha256").update(fatbin).digest());

const damaged = (file: Uint8Array) => expect(openFatbin(file)).rejects.toThrow(/^the CUDA kernels are damaged \(flash-sampling\.fatbin: /);

describe("the kernels' file", () => {
  test("is taken when it is whole", async () => {
    expect(await openFatbin(whole)).toEqual(fatbin);
    const inside = new Uint8Array(1000);
    inside.set(whole, 7);
    expect(await openFatbin(inside.subarray(7, 7 + whole.length))).toEqual(fatbin);
    const built = freshFatbin();
    if (built !== null) expect((await openFatbin(new Uint8Array(readFileSync(built)))).length).toBeGreaterThan(100_000);
  });

  test("is refused with any bit flipped", async () => {
    for (let bit = 0; bit < whole.length * 8; bit++) {
      const file = whole.slice();
      file[bit >>> 3]! ^= 1 << (bit & 7);
      await damaged(file);
    }
  });

  test("is refused when cut anywhere", async () => {
    for (let length = 0; length < whole.length; length++) await damaged(whole.subarray(0, length));
  });

  test.each([
    ["nothing but a digest", new Uint8Array(createHash("sha256").digest())],
    ["zeros", new Uint8Array(600)],
    ["a page of a web server", new TextEncoder().encode("<!doctype html><title>404</title>not found, and more words than a digest has")],
    ["a byte more", Uint8Array.of(...whole, 0)],
    ["twice", Uint8Array.of(...whole, ...whole)],
  ])("is refused: %s", (_, file) => damaged(file));
});
