/** What bench/mutants claims: each method that must catch a mutant does, nobody finds fault with the correct sampler, and its table tells a miss. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { MUTANTS } from "../../bench/mutants/catalogue.js";
import { findByPeer, PEERS } from "../../bench/mutants/peers/list.js";
import { createSampler } from "../../bench/mutants/sampler.js";
import { tableOf, totalsOf } from "../../bench/mutants/table.js";
import { tryCorrect, tryMethods, type Trial } from "../../bench/mutants/trial.js";

const TIMEOUT = 600_000;

describe("the methods", { timeout: TIMEOUT }, () => {
  it.each(MUTANTS)("catch $name", async (mutant) => {
    const results = await tryMethods(mutant);
    expect(results.passed, JSON.stringify(results)).toBe(true);
  });

  it("find nothing in the correct sampler, and neither do the peers' tests", async () => {
    const trial = await tryCorrect();
    expect(trial.passed, JSON.stringify(trial)).toBe(true);
  });
});

describe("the peers' tests", { timeout: TIMEOUT }, () => {
  const ofPeer = (name: string) => PEERS.find((peer) => peer.name === name)!.tests;
  const samplerOf = (name: string) => createSampler(MUTANTS.find((mutant) => mutant.name === name)!.patch);

  /** What each sees, and what its band lets through. */
  it.each([
    ["FlashInfer", "rows-share-noise", true],
    ["FlashInfer", "noise-times-1.02", false],
    ["vLLM", "positions-share-noise", true],
    ["vLLM", "temperature-off-by-2-percent", false],
    ["FlashSampling", "temperature-twice", true],
    ["FlashSampling", "sample-in-8-bits", true],
    ["FlashSampling", "position-behind", false],
  ] as const)("of %s before %s: caught %s", async (peer, mutant, isCaught) => {
    expect((await findByPeer(await samplerOf(mutant), ofPeer(peer))) !== null).toBe(isCaught);
  });
});

describe("the table", () => {
  const found = { caught: true, by: ["wrong"], draws: 3, seconds: 0, input: "plain", mustCatch: true };
  const missed = { ...found, caught: false, by: [] };
  const trial: Trial = { name: "some", fault: "something", check: found, gof: missed, invariance: { ...missed, mustCatch: null }, peers: { FlashInfer: null, vLLM: "tail", FlashSampling: null }, passed: false };

  it("has a line for each trial, and tells what was missed", () => {
    expect(tableOf([trial]).split("\n").at(-1)).toBe("| some | something | draw 3, plain | **missed** |  |  | caught |  |");
    expect(totalsOf([trial, { ...trial, name: "correct" }])).toBe(
      "Of 1 mutants: check 1, gof 0, invariance 0, gof or invariance 0, FlashInfer 0, vLLM 1, FlashSampling 0, any of the three peers 1.",
    );
  });
});

describe("the command", { timeout: TIMEOUT }, () => {
  const run = (...options: string[]) => spawnSync(process.execPath, [fileURLToPath(new URL("../../bench/mutants/bench.mjs", import.meta.url)), ...options], { encoding: "utf8" });

  it("refuses a mutant that it does not know", () => {
    const { status, stderr } = run("--only", "plain,nobody");
    expect(status).toBe(2);
    expect(stderr).toContain('"--only" expected names from correct, rows-share-noise');
  });

  it("prints a table, or JSON", () => {
    const table = run("--only", "rows-share-noise");
    expect(table).toMatchObject({ status: 0, stderr: "" });
    expect(table.stdout).toMatch(/^\| sampler \| fault .*\n\| --- .*\n\| rows-share-noise \|.*draw \d+, plain.*\n\nOf 1 mutants: check 1, gof 1, invariance 1/);
    const [trial] = JSON.parse(run("--only", "rows-share-noise", "--json").stdout) as Trial[];
    expect(trial).toMatchObject({ name: "rows-share-noise", passed: true, check: { caught: true, input: "plain" }, peers: { FlashInfer: expect.any(String) } });
  });
});
