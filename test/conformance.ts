/** Every backend against the oracle on seeded problems, as many as asked for; prints a digest of the decisions. */
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { BACKENDS, type BackendName } from "../src/index.js";
import { detailLine, difference, runProblem } from "./compare.js";
import { makeProblem } from "./problems.js";
import { unavailable } from "./require.js";

/** Of a backend that is slow where no GPU is, every n-th problem only. Odd, since the dtypes take turns. */
export type Strides = Readonly<Partial<Record<BackendName, number>>>;

export function describeConformance(count: number, strides: Strides = {}): void {
  describe(`the oracle's decisions on ${count} problems`, () => compareAll(count, strides));
}

async function compareAll(count: number, strides: Strides): Promise<void> {
  const backends: BackendName[] = [];
  for (const entry of BACKENDS) {
    if (entry.name !== "reference" && !unavailable(entry.name, await entry.probe())) backends.push(entry.name);
  }
  const stride = (backend: BackendName) => strides[backend] ?? 1;
  const shares = backends.map((backend) => (stride(backend) === 1 ? backend : `${backend} (on one of ${stride(backend)})`));

  it.runIf(backends.length > 0)(`are those of ${shares.join(" and ")}`, { timeout: 3_600_000 }, async () => {
    const digest = createHash("sha256");
    const differences: string[] = [];
    for (let index = 0; index < count; index++) {
      const problem = makeProblem(index);
      const expected = await runProblem(problem, "reference");
      for (const detail of expected) digest.update(`${detailLine(detail)}\n`);
      for (const backend of backends.filter((candidate) => index % stride(candidate) === 0)) {
        const found = difference(`${backend}, ${problem.name}`, expected, await runProblem(problem, backend));
        if (found !== null) differences.push(found);
      }
    }
    console.log(`${count} problems on ${shares.join(", ")}: ${differences.length} differences, digest of the decisions ${digest.digest("hex")}`);
    expect(differences.slice(0, 10)).toEqual([]);
  });
}
