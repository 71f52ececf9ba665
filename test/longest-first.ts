/** The order of test files. Vitest knows which take long only where it has run before; begun late, one of them would run alone at the end. */
import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const LONGEST = ["webgpu", "webgpu-peer", "webgpu-divisions", "webgpu-self-test", "package", "cli-doctor", "webgpu-buffers", "webgpu-pages", "webgpu-errors"].map((name) => `${name}.test.ts`);

/** Those that are known to take long, the longest first, then the others as Vitest has them. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b));
  }
}

function rank({ moduleId }: TestSpecification): number {
  const at = LONGEST.indexOf(basename(moduleId));
  return at < 0 ? LONGEST.length : at;
}
