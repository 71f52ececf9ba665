/** Every backend against the oracle on seeded problems, as many as asked for; prints a digest of the decisions. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BACKENDS, type BackendName } from "../src/index.js";
import { detailLine, difference, runProblem } from "./compare.js";
import { makeProblem } from "./problems.js";
import { unavailable } from "./require.js";

export function describeConformance(count: number): void {
  describe(`the oracle's decisions on ${count} problems`, () => compareAll(count));
}

async function compareAll(count: number): Promise<void> {
  const backends: BackendName[] = [];
  for (const entry of BACKENDS) {
    if (entry.name !== "reference" && !unavailable(entry.name, await entry.probe())) backends.push(entry.name);
  }

  it.runIf(backends.length > 0)(`are those of ${backends.join(" and ")}`, { timeout: 3_600_000 }, async () => {
    const digest = createHash("sha256");
    const differences: string[] = [];
    for (let index = 0; index < count; index++) {
      const problem = makeProblem(index);
      const expected = await runProblem(problem, "reference");
      for (const detail of expected) digest.update(`${detailLine(detail)}\n`);
      for (const backend of backends) {
        const found = difference(`${backend}, ${problem.name}`, expected, await runProblem(problem, backend));
        if (found !== null) differences.push(found);
      }
    }
    console.log(`${count} problems on ${backends.join(", ")}: ${differences.length} differences, digest of the decisions ${digest.digest("hex")}`);
    expect(differences.slice(0, 10)).toEqual([]);
  });
}
