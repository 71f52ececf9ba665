/**
 * FlashInfer, tests/utils/test_sampling.py: frequencies of 111 tokens, 20,000 draws in place of 5,000,000, by which the cosine of right
 * tokens falls by 0.001.
 */
import { Random } from "../../../src/verify/invariance/random.js";
import { rowsOf, type Experiment } from "../experiment.js";
import { ranked } from "../filters.js";
import { normalLogits, onlyTokens } from "../logits.js";
import { counted, NO_TOKEN, probabilities, type PeerTest } from "./peer-test.js";

/** Each draw a row of its own, as with FlashInfer's indices. */
const ofRows = (logits: Float32Array, filters = {}): Experiment => rowsOf(logits, [{ name: "row", size: null }], false, ([sequence]) => ({ sequence: sequence! }), filters);
const COSINE = { vocabSize: 111, draws: 20_000, least: 0.99 };

function cosine(a: Float64Array, b: Float64Array): number {
  const dot = (x: Float64Array, y: Float64Array) => x.reduce((sum, value, index) => sum + value * y[index]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}

/** allowed: the logits that are left; a token of another is an error. */
function cosineTest(name: string, logits: Float32Array, allowed: Float32Array, filters = {}): PeerTest {
  return {
    name,
    async find(sampler) {
      const counts = await counted(sampler, ofRows(logits, filters), COSINE.draws);
      if (counts === null) return NO_TOKEN;
      if (counts.some((count, token) => count > 0 && allowed[token] === -Infinity)) return "a token that is not allowed";
      const similarity = cosine(counts, probabilities(allowed, 1));
      return similarity > COSINE.least ? null : `cosine ${similarity.toFixed(4)}`;
    },
  };
}

export function flashInfer(): PeerTest[] {
  return [1, 5].flatMap((deviation) => {
    const logits = normalLogits(COSINE.vocabSize, deviation, 400 + deviation);
    const half = onlyTokens(logits, new Random(1618, 410, 0).order(COSINE.vocabSize).slice(0, Math.ceil(COSINE.vocabSize / 2)));
    const order = ranked(logits);
    const weights = probabilities(logits, 1);
    let mass = 0;
    const nucleus = order.filter((token) => (mass += weights[token]!) - weights[token]! < 0.9);
    return [
      cosineTest(`frequencies, N(0, ${deviation})`, logits, logits),
      cosineTest(`half of N(0, ${deviation}) masked`, half, half),
      cosineTest(`top-k 10 of N(0, ${deviation})`, logits, onlyTokens(logits, order.slice(0, 10)), { topK: 10 }),
      cosineTest(`top-p 0.9 of N(0, ${deviation})`, logits, onlyTokens(logits, nucleus), { topP: 0.9 }),
    ];
  });
}
