/** The three methods of the package on a sampler: what each finds, and after how many draws. */
import { check } from "../../src/verify/check.js";
import { goodnessOfFit } from "../../src/verify/gof/gof.js";
import { findInvariances } from "../../src/verify/invariance/find.js";
import { OPTIONAL_INPUTS } from "../../src/verify/invariance/case.js";
import type { SamplerUnderTest } from "../../src/verify/sampler-under-test.js";
import { checkInput, type CheckInput } from "./check-inputs.js";
import { drawTokens } from "./experiment.js";
import { experiment, type GofInput } from "./gof-inputs.js";

export interface Finding {
  readonly caught: boolean;
  /** what showed it; empty where nothing did */
  readonly by: readonly string[];
  /** how many draws were made, up to the one or the bag that showed it */
  readonly draws: number;
  /** of processor time */
  readonly seconds: number;
}

async function timed(find: () => Promise<Omit<Finding, "seconds">>): Promise<Finding> {
  const start = processorSeconds();
  const found = await find();
  return { ...found, seconds: processorSeconds() - start };
}

/** Not those of the clock: other programs may share the machine. */
function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** Exact: the first draw that no right sampler makes. */
export function findByCheck(sampler: SamplerUnderTest, name: CheckInput): Promise<Finding> {
  return timed(async () => {
    const { call, judged } = checkInput(name);
    const { vocabSize, numSamples, seed, temperature, sequence, position } = call;
    const tokens = await sampler(call);
    const document = await check({
      tokens,
      logits: judged,
      vocabSize,
      numSamples,
      seed: BigUint64Array.from(seed),
      temperature,
      sequence,
      position,
      ranks: 0,
      backend: "wasm",
    });
    const wrong = document.draws.find(({ verdict }) => verdict !== "exact");
    const at = wrong === undefined ? tokens.length : wrong.row * numSamples + wrong.sample + 1;
    return { caught: !document.passed, by: wrong === undefined ? [] : [wrong.fault ?? wrong.verdict], draws: at };
  });
}

/** Draws of the bags that are judged, one after the other. */
const LADDER = [1e3, 1e4, 1e5, 1e6];
const SECONDS = 60;

/** Statistics of tokens alone. A larger bag comes only where a smaller one shows nothing and ten times its time is left. */
export function findByGof(sampler: SamplerUnderTest, name: GofInput, ladder: readonly number[] = LADDER): Promise<Finding> {
  return timed(async () => {
    const start = processorSeconds();
    const asked = experiment(name);
    const { judged, vocabSize, temperature, axes, shards = 1 } = asked;
    let drawn = 0;
    for (const draws of ladder) {
      const bag = processorSeconds();
      const { tokens, shape } = await drawTokens(sampler, asked, draws);
      const { passed, tests } = goodnessOfFit({ logits: judged, vocabSize, temperature, tokens, shape, axes, shards });
      drawn = tokens.length;
      if (!passed) return { caught: true, by: tests.filter((test) => !test.passed).map((test) => test.name), draws: drawn };
      const now = processorSeconds();
      if (10 * (now - bag) > SECONDS - (now - start)) break;
    }
    return { caught: false, by: [], draws: drawn };
  });
}

/** Properties: without a reference. draws: calls of the sampler. */
export function findByInvariance(sampler: SamplerUnderTest): Promise<Finding> {
  return timed(async () => {
    const { passed, findings, calls } = await findInvariances(sampler, { reads: OPTIONAL_INPUTS });
    return { caught: !passed, by: findings.filter(({ status }) => status === "broken").map(({ name }) => name), draws: calls };
  });
}
