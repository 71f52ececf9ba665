/**
 * Is what a document's `power` states true? Each stated bias is injected, and 0.8 and 1.2 of it: how many bags of tokens raise an alarm?
 */
import { goodnessOfFit } from "../../src/verify/gof/gof.js";
import { aliasTable, prepared, sampler, SETTINGS, uniforms, type Setting } from "../../test/gof-draws.js";
import { seedOf } from "./seeds.js";

const ALPHAS = [1e-9, 1e-2];
/** What is injected, as a multiple of what is stated. */
export const PARTS = [0.8, 1, 1.2] as const;

export interface StatedBias {
  readonly setting: string;
  readonly alpha: number;
  readonly what: string;
  readonly smallest: number;
}

/** alarms: [PARTS]; null: such a bias would take a token's probability below 0 */
export interface FoundBias extends StatedBias {
  readonly alarms: readonly (number | null)[];
}

type Bias = (probabilities: Float64Array, size: number, uniform: () => number) => Float64Array;

/** What `power` calls a bias, done to a row's probabilities. */
function biasOf(what: string, logits: Float32Array): Bias {
  const token = /increase of token (\d+)/.exec(what);
  if (token !== null) return raising((index) => index === Number(token[1]));
  const highest = logits.reduce((a, b) => Math.max(a, b));
  const gap = /mass at gap (\d+)(?:-(\d+))?/.exec(what);
  if (gap !== null) return raising((index) => highest - logits[index]! >= Number(gap[1]) && highest - logits[index]! < Number(gap[2] ?? Infinity));
  if (what === "root mean square of relative biases of all tokens, random in sign") return spread;
  throw new RangeError(`"what" expected a bias that is known here, got ${JSON.stringify(what)}`);
}

function raising(isRaised: (token: number) => boolean): Bias {
  return (probabilities, size) => {
    const mass = probabilities.reduce((sum, p, token) => (isRaised(token) ? sum + p : sum), 0);
    return probabilities.map((p, token) => (isRaised(token) ? p * (1 + size) : (p * (1 - mass * (1 + size))) / (1 - mass)));
  };
}

/** Signs at random, centred, with a root mean square of `size`, each token weighted by its probability. */
function spread(probabilities: Float64Array, size: number, uniform: () => number): Float64Array {
  const signs = probabilities.map(() => (uniform() < 0.5 ? -1 : 1));
  const mean = signs.reduce((sum, sign, token) => sum + sign * probabilities[token]!, 0);
  const scale = size / Math.sqrt(1 - mean ** 2);
  return probabilities.map((p, token) => Math.max(0, p * (1 + scale * (signs[token]! - mean))));
}

function statedBy({ name, axes, shards, vocabSize }: Setting, { logits, shape, draw, probabilities }: ReturnType<typeof prepared>, alpha: number): StatedBias[] {
  const tokens = draw(probabilities.map((weights) => sampler(weights, uniforms(1))));
  const { power } = goodnessOfFit({ tokens, shape, axes, shards, logits, vocabSize, alpha });
  return power.map(({ what, smallest }) => ({ setting: name, alpha, what, smallest }));
}

/** Of all that is stated, the alarms of runs index, index + step, ... below `runs`. */
export function countFound(runs: number, index: number, step: number): FoundBias[] {
  const found: FoundBias[] = [];
  let stream = 1000;
  for (const setting of SETTINGS.filter(({ rows }) => rows === 1)) {
    const bench = prepared(setting, 11);
    for (const stated of ALPHAS.flatMap((alpha) => statedBy(setting, bench, alpha))) {
      const bias = biasOf(stated.what, bench.logits);
      found.push({ ...stated, alarms: PARTS.map((part) => alarmsOf(bench, bias, part * stated.smallest, stated.alpha, stream++, { runs, index, step })) });
    }
  }
  return found;
}

interface Runs {
  readonly runs: number;
  readonly index: number;
  readonly step: number;
}

function alarmsOf({ probabilities, draw, alarms }: ReturnType<typeof prepared>, bias: Bias, size: number, alpha: number, stream: number, { runs, index, step }: Runs): number | null {
  const fixed = bias === spread ? null : bias(probabilities[0]!, size, () => 0);
  if (fixed?.some((weight) => weight < 0) === true) return null;
  const table = fixed === null ? null : aliasTable(fixed);
  let count = 0;
  for (let run = index; run < runs; run += step) {
    const uniform = uniforms(seedOf(stream, run));
    const drawFrom = table ?? aliasTable(bias(probabilities[0]!, size, uniform));
    if (alarms(draw([() => drawFrom(uniform())]), [alpha])[0]) count++;
  }
  return count;
}
