/** All recorded draws of other engines, those of large vocabularies included. */
import { expect, it } from "vitest";
import { engineOf, readEngineOptions } from "../../src/verify/engines/list.js";
import { compare, recordedDraws, replay } from "../engines-recordings.js";

it.each(Object.entries(recordedDraws))("%s", { timeout: 300_000 }, (name, draws) => {
  const result = compare(draws().map((draw) => replay({ readEngineOptions }, engineOf(name), draw)));
  console.log(`${name}: ${result.draws} draws, ${result.proven} proven, ${result.nearTies} near-ties, ${result.wrong} wrong`);
  expect(result.wrong).toBe(0);
  expect(result.proven).toBeGreaterThanOrEqual(0.9 * result.draws);
});
