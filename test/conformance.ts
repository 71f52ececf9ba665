/** Backends against the oracle on seeded problems, as many as asked for; prints a digest of the decisions. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { BackendName } from "../src/index.js";
import { detailLine, difference, runProblem } from "./compare.js";
import { obstacleOf } from "./each-backend.js";
import { makeProblem } from "./problems.js";
import { unavailable } from "./require.js";

/** stride: of all problems, every n-th only. Odd, since the dtypes take turns. */
export function describeConformance(names: readonly BackendName[], count: number, stride = 1): void {
  const share = stride === 1 ? `${count} problems` : `one of ${stride} of ${count} problems`;
  describe(`the oracle's decisions on ${share}`, () => compareAll(names, count, stride, share));
}

async function compareAll(names: readonly BackendName[], count: number, stride: number, share: string): Promise<void> {
  const backends: BackendName[] = [];
  for (const name of names.filter((candidate) => candidate !== "reference")) {
    if (!unavailable(name, await obstacleOf(name))) backends.push(name);
  }
  it.runIf(backends.length > 0)(`are those of ${backends.join(" and ")}`, { timeout: 3_600_000 }, async () => {
    const digest = createHash("sha256");
    const differences: string[] = [];
    for (let index = 0; index < count; index += stride) {
      const problem = makeProblem(index);
      const expected = await runProblem(problem, "reference");
      for (const detail of expected) digest.update(`${detailLine(detail)}\n`);
      for (const backend of backends) {
        const found = difference(`${backend}, ${problem.name}`, expected, await runProblem(problem, backend));
        if (found !== null) differences.push(found);
      }
    }
    console.log(`${share} on ${backends.join(", ")}: ${differences.length} differences, digest of the decisions ${digest.digest("hex")}`);
    expect(differences.slice(0, 10)).toEqual([]);
  });
}
