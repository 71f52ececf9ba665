/** The known answers of whole decisions, put to a backend: what test/vectors/sample.json and logits.json say of it. */
import { expect, it } from "vitest";
import { STATUS_ALL_MASKED, STATUS_OK, type Backend, type Candidates } from "../src/backend.js";
import { createBackend } from "../src/backends/list.js";
import type { BackendName, HeadArray } from "../src/index.js";
import { loadHead } from "../src/head/load.js";
import { prepareHiddenStates } from "../src/hidden.js";
import * as oracle from "../src/oracle.js";
import { drawText, f32Values, f64Value, readVectors, shownDraw, vectorHead } from "./vector-checks.js";

/** What a problem of sample.json expects and what the backend gave, a line a draw. */
async function sampleAnswers(backend: Backend, problem: any): Promise<{ expected: string[]; got: string[] }> {
  const { dtype, vocabSize, hiddenSize, weights: data, scales } = vectorHead(problem);
  const weights = { data, dtype, shape: [vocabSize, hiddenSize], scales } as HeadArray;
  const { shape, head, statistics } = await loadHead({ weights, createSink: backend.createHead.bind(backend) });
  const { values, invalidRow } = prepareHiddenStates(f32Values(problem.hidden.join(" ")), shape, statistics.largestMagnitude);
  if (invalidRow.some((found) => found !== null)) throw new Error(`${problem.name}: expected hidden states that pass`);
  const [expected, got]: string[][] = [[], []];
  for (const call of problem.calls) {
    const tau = oracle.tauOf(f64Value(call.T));
    const candidates = await head.sample({ hiddenStates: values, request: vectorRequest(call, call.rows, tau) });
    expected!.push(...call.rows.flatMap((row: any) => row.draws.map(drawText)));
    got!.push(...drawLines(candidates, tau));
  }
  head.dispose();
  return { expected: expected!, got: got! };
}

/** The same for a case of logits.json. */
async function logitsAnswers(backend: Backend, { logits, calls }: any): Promise<{ expected: string[]; got: string[] }> {
  const values = f32Values(logits);
  const [expected, got]: string[][] = [[], []];
  for (const call of calls) {
    const tau = oracle.tauOf(f64Value(call.T));
    const candidates = await backend.sampleLogits({ logits: values, vocabSize: values.length, request: vectorRequest(call, [call], tau) });
    expected!.push(...call.draws.map(drawText));
    got!.push(...drawLines(candidates, tau));
  }
  return { expected: expected!, got: got! };
}

/** Every question that the known answers put to a backend. */
export const QUESTIONS: readonly { readonly name: string; answers(backend: Backend): Promise<{ expected: string[]; got: string[] }> }[] = [
  ...readVectors("sample").problems.map((problem: any) => ({ name: `sample: ${problem.name}`, answers: (backend: Backend) => sampleAnswers(backend, problem) })),
  ...readVectors("logits").cases.map((given: any) => ({ name: `logits: ${given.name}`, answers: (backend: Backend) => logitsAnswers(backend, given) })),
];

/** The tests of a backend that put them all to it. */
export function knownAnswers(name: BackendName): void {
  it.each(QUESTIONS)("$name", async ({ answers }) => {
    const backend = await createBackend(name);
    const { expected, got } = await answers(backend);
    expect(expected.length).toBeGreaterThan(0);
    expect(got).toEqual(expected);
    backend.dispose();
  });
}

function drawLines(candidates: Candidates, tau: number): string[] {
  return Array.from(candidates.token, (_, index) => shownDraw(oracle, drawOf(candidates, index), tau));
}

/** Draw `index` of the candidates as the oracle would give it. */
function drawOf(candidates: Candidates, index: number): oracle.Draw {
  const status = candidates.status[index]!;
  return {
    status: status === STATUS_OK ? "ok" : status === STATUS_ALL_MASKED ? "all-masked" : "invalid",
    token: candidates.token[index]!,
    score: candidates.score[index]!,
    runnerUp: candidates.runnerUp[index]!,
    runnerUpScore: candidates.runnerUpScore[index]!,
  };
}

function vectorRequest(call: any, rows: any[], tau: number): Uint32Array {
  const requests = rows.map((row) => ({
    seed: BigInt(`0x${row.seed}`),
    sequence: parseInt(row.sequence, 16),
    position: parseInt(row.position, 16),
    tau,
    firstSample: parseInt(call.firstSample, 16),
  }));
  return oracle.encodeRequest(requests, call.samples);
}

