/**
 * The rates and powers that docs/goodness-of-fit.md shows, by the same command with fewer runs: 1000 correct bags of each kind, and 100 of
 * each bias that is stated. The seeds are fixed: a pass stays a pass.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const script = fileURLToPath(new URL("../../bench/gof/measure.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gof-measure-"));

function measure(mode: string, name: string, ...options: string[]) {
  const file = join(folder, name);
  const { status, stdout } = spawnSync(process.execPath, [script, mode, "--out", file, ...options], { encoding: "utf8" });
  return { status, stdout, results: readFileSync(file, "utf8") };
}

const processes = String(availableParallelism());

describe("goodness of fit, measured", () => {
  afterAll(() => rmSync(folder, { recursive: true }));

  test("correct tokens alarm as often as alpha says", () => {
    expect(measure("rates", "rates.json", "--rate-runs", "1000", "--processes", processes)).toMatchObject({ status: 0, stdout: expect.stringContaining(" 0 not as stated") });
  });

  test("biases are found as often as it is stated", () => {
    expect(measure("power", "power.json", "--power-runs", "100", "--processes", processes)).toMatchObject({ status: 0, stdout: expect.stringContaining(" 0 not as stated") });
  });

  // So few runs may well be off what is stated.
  test("counts do not depend on how many processes there are", () => {
    const results = ["1", "3"].map((count) => measure("rates", `rates-${count}.json`, "--rate-runs", "7", "--processes", count).results);
    expect(results[0]).toBe(results[1]);
  });
});
