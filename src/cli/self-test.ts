/** Runs the embedded problems on one backend and compares every number of every draw. */
import type { BackendName } from "../backends/list.js";
import type { HeadArray } from "../head/head-reader.js";
import type { SampleDetail } from "../outcome.js";
import { createSampler, type Sampler } from "../sampler.js";
import { hex } from "./explain.js";
import { KNOWN_PROBLEMS, type KnownCall, type KnownDraw, type KnownProblem } from "./known-answers.js";

/** One line for each problem with a wrong answer, naming its first one. @throws what the backend throws */
export async function selfTest(backend: BackendName): Promise<string[]> {
  const failures: string[] = [];
  for (const problem of KNOWN_PROBLEMS) {
    const sampler = await createSampler({ weights: headOf(problem), backend });
    try {
      const failure = await firstFailure(sampler, problem);
      if (failure !== null) failures.push(`${problem.name}: ${failure}`);
    } finally {
      sampler.dispose();
    }
  }
  return failures;
}

async function firstFailure(sampler: Sampler, problem: KnownProblem): Promise<string | null> {
  const hiddenStates = new Float32Array(wordsOf(problem.hidden, Uint32Array).buffer);
  for (const call of problem.calls) {
    const { details } = await sampler.sample({ hiddenStates, ...optionsOf(call), details: true });
    const samples = call.firstSample + call.samples;
    for (const [row, { draws }] of call.rows.entries()) {
      for (const [index, expected] of draws.entries()) {
        const got = drawOf(details![row * samples + call.firstSample + index]!);
        if (JSON.stringify(got) !== JSON.stringify(expected)) {
          return `row ${row}, sample ${call.firstSample + index}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(got)}`;
        }
      }
    }
  }
  return null;
}

/** Draws before the first known one are made and not looked at. */
function optionsOf({ temperature, firstSample, samples, rows }: KnownCall) {
  return {
    temperature,
    numSamples: firstSample + samples,
    seed: BigUint64Array.from(rows, (row) => BigInt(`0x${row.seed}`)),
    sequence: rows.map((row) => row.sequence),
    position: rows.map((row) => row.position),
  };
}

function drawOf({ token, scoreBits, runnerUp }: SampleDetail): KnownDraw {
  return { token, scoreBits: hex(scoreBits ?? 0n, 16), runnerUp };
}

function headOf({ dtype, vocabSize, hiddenSize, weights, scales }: KnownProblem): HeadArray {
  const shape = [vocabSize, hiddenSize] as const;
  switch (dtype) {
    case "bf16":
    case "f16":
      return { dtype, shape, data: wordsOf(weights, Uint16Array) };
    case "f32":
      return { dtype, shape, data: new Float32Array(wordsOf(weights, Uint32Array).buffer) };
    case "int8":
      return { dtype, shape, data: wordsOf(weights, Int8Array), scales: new Float32Array(wordsOf(scales!, Uint32Array).buffer) };
  }
}

/** Rows of hexadecimal words, as one array. */
function wordsOf<Words>(rows: readonly string[], kind: { from(words: number[]): Words }): Words {
  return kind.from(rows.flatMap((row) => row.split(" ").map((word) => parseInt(word, 16))));
}
