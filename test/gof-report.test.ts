/** The commands of bench/gof that measure rates and powers: misuse, and the tables that are made of results. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { wrongPowers, wrongRates } from "../bench/gof/limits.js";

const folder = mkdtempSync(join(tmpdir(), "gof-report-"));
afterAll(() => rmSync(folder, { recursive: true }));

function run(script: string, ...options: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL(`../bench/gof/${script}`, import.meta.url)), ...options], { encoding: "utf8" });
  return { status, stdout, stderr };
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

const bag = (alarms: number[], isBound = false) => ({ name: "V = 8", isBound, alarms });
const ratesOf = (...cases: ReturnType<typeof bag>[]) => ({ runs: 10_000, alphas: [0.01, 1e-9], cases });
const line = (what: string, ...alarms: (number | null)[]) => ({ setting: "V = 8", alpha: 0.01, what, smallest: 0.5, alarms });
const powerOf = (...lines: ReturnType<typeof line>[]) => ({ runs: 200, parts: [0.8, 1, 1.2], lines });
const TOKEN = "relative increase of token 3, of probability 0.1";

describe("limits", () => {
  test("of rates: 0.7 to 1.3 %, none at the default rate", () => {
    expect(wrongRates(ratesOf(bag([70, 0]), bag([130, 0]), bag([40, 0], true)))).toEqual([]);
    expect(wrongRates(ratesOf(bag([69, 0]), bag([131, 0]), bag([131, 0], true)))).toEqual([
      "V = 8: 69 alarms in 10000 bags at 0.01, 70 to 130 expected",
      "V = 8: 131 alarms in 10000 bags at 0.01, 70 to 130 expected",
      "V = 8: 131 alarms in 10000 bags at 0.01, at most 130 expected",
    ]);
    expect(wrongRates(ratesOf(bag([100, 1])))).toEqual(["V = 8: 1 alarms in 10000 bags at 1e-9"]);
  });

  /** Two standard deviations of a share of 200: 4.2 %. */
  test("of powers: 72 % at what is stated, 90 % within a fifth of it", () => {
    expect(wrongPowers(powerOf(line(TOKEN, 188, 144, 172), line(TOKEN, 100, 200, null)))).toEqual([]);
    for (const alarms of [[189, 190, 195], [100, 143, 190], [100, 180, 171]]) {
      expect(wrongPowers(powerOf(line(TOKEN, ...alarms)))).toEqual([`V = 8, alpha 0.01, ${TOKEN}, 0.500: ${alarms.join(", ")} of 200`]);
    }
  });
});

describe("report.mjs", () => {
  const rates = file("rates.json", JSON.stringify({ rates: ratesOf(bag([104, 0]), bag([77, 0])) }));
  const power = file("power.json", JSON.stringify({ power: powerOf(line(TOKEN, 100, 180, null), line(TOKEN, 120, 170, 198), line("root mean square of x", 2, 180, 200)) }));

  test("makes tables", () => {
    const { status, stdout } = run("report.mjs", rates, power);
    expect(status).toBe(0);
    expect(stdout).toContain("10,000 bags of each kind:\n\n| correct tokens | alarms at 0.01 | alarms at 1e-9 |\n| --- | --- | --- |\n| V = 8 | 1.04 % | none |\n");
    expect(stdout).toContain("| together | 0.91 % | none |\n");
    expect(stdout).toContain("| a token | 0.01 | 2 | 50, 60, 60 % | 85, 90, 90 % | 99, 99, 99 % |\n");
    expect(stdout).toContain("| all tokens | 0.01 | 1 | 1, 1, 1 % | 90, 90, 90 % | 100, 100, 100 % |\n");
  });

  test("puts them between their marks, again and again", () => {
    const document = file("document.md", "before\n\n<!-- rates -->\nold\n<!-- /rates -->\n\nafter\n");
    const once = [1, 2].map(() => {
      expect(run("report.mjs", rates, "--into", document)).toEqual({ status: 0, stdout: "", stderr: "" });
      return readFileSync(document, "utf8");
    });
    expect(once[0]).toMatch(/^before\n\n<!-- rates -->\n\n10,000 bags[^]*none \|\n\n<!-- \/rates -->\n\nafter\n$/);
    expect(once[1]).toBe(once[0]);
    expect(run("report.mjs", power, "--into", document)).toMatchObject({ status: 2, stderr: expect.stringContaining("expected <!-- power --> and <!-- /power -->, got none") });
    expect(readFileSync(document, "utf8")).toBe(once[0]);
  });

  test.each([
    ["no file", [], "got none"],
    ["a file that is none", [join(folder, "nothing.json")], "expected a file that can be read, got ENOENT"],
    ["no JSON", [file("bad.json", "{")], "expected JSON, got something else"],
    ["no results", [file("empty.json", "{}")], "expected files of measure.mjs with rates or power"],
  ])("refuses %s", (_, files, message) => {
    expect(run("report.mjs", ...files)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
  });
});

test.each([
  [["speed"], '"mode" expected rates or power, got "speed"'],
  [["--processes", "0"], '"--processes" expected a whole number from 1 on, got "0"'],
  [["--rate-runs", "1e4"], '"--rate-runs" expected a whole number from 1 on, got "1e4"'],
  [["--power-runs", "1000001"], '"--power-runs" expected at most 1000000, got 1000001'],
])("measure.mjs refuses %s", (options, message) => {
  expect(run("measure.mjs", ...options)).toMatchObject({ status: 2, stdout: "", stderr: expect.stringContaining(message) });
});
