/** Runs a problem on a backend and compares decisions bit by bit: token, 64-bit score, runner-up, margin, status. */
import { createSampler, type BackendName, type HeadArray, type SampleDetail, type SampleOptions } from "../src/index.js";
import type { Problem } from "./problems.js";

export async function runProblem(problem: Problem, backend: BackendName): Promise<SampleDetail[]> {
  const sampler = await createSampler({ weights: problem.weights as HeadArray, backend });
  try {
    return await sampleDetails(sampler, problem.sample);
  } finally {
    sampler.dispose();
  }
}

/** The details of a call, after a check that they say the same as its tokens. */
export async function sampleDetails(
  sampler: { sample(options: SampleOptions): Promise<{ tokens: Int32Array; details?: SampleDetail[] }> },
  options: SampleOptions,
): Promise<SampleDetail[]> {
  const { tokens, details } = await sampler.sample({ ...options, details: true });
  if (details?.length !== tokens.length || details.some(({ token }, index) => token !== tokens[index])) {
    throw new Error(`tokens ${tokens} and details disagree`);
  }
  return details;
}

/** One line that holds every bit of a decision. */
export function detailLine({ status, token, scoreBits, runnerUp, margin }: SampleDetail): string {
  const bits = scoreBits === null ? "-" : BigInt.asUintN(64, scoreBits).toString(16).padStart(16, "0");
  return `${status} token=${token} score=${bits} runnerUp=${runnerUp} margin=${margin}`;
}

/** null when equal, else the first difference in words. */
export function difference(name: string, expected: readonly SampleDetail[], got: readonly SampleDetail[]): string | null {
  if (expected.length === 0) return `${name}: nothing was expected, so nothing was tested`;
  if (expected.length !== got.length) return `${name}: expected ${expected.length} draws, got ${got.length}`;
  for (let draw = 0; draw < expected.length; draw++) {
    const [want, have] = [detailLine(expected[draw]!), detailLine(got[draw]!)];
    if (want !== have) return `${name}, draw ${draw}:\n  expected ${want}\n  got      ${have}`;
  }
  return null;
}
