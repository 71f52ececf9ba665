/** A rule as a sampler: the plain loop over rows, samples, tiles and tokens. */
import { NOISE_SHIFT } from "../../src/spec/constants.js";
import type { SamplerCall, SamplerUnderTest } from "../../src/verify/sampler-under-test.js";
import { correctRule, scaled, zOf } from "./correct.js";
import type { Noise, Patch, Rule, Stream } from "./rule.js";
import { createWords } from "./words.js";

/** @param patch what the mutant does otherwise; nothing: the correct sampler */
export async function createSampler(patch: Patch = () => ({})): Promise<SamplerUnderTest> {
  const correct = correctRule(await createWords());
  const rule = { ...correct, ...patch(correct) };
  return (call) => sampleAll(rule, call);
}

function sampleAll(rule: Rule, call: SamplerCall): Int32Array {
  const tokens = new Int32Array(call.rows * call.numSamples).fill(-1);
  for (let row = 0; row < call.rows; row++) {
    if (rule.isInvalid(call, row)) continue;
    const prepared = prepareRow(rule, call, row);
    for (let sample = 0; sample < call.numSamples; sample++) tokens[row * call.numSamples + sample] = draw(rule, call, prepared, sample);
  }
  rule.finish(tokens, call);
  return tokens;
}

interface PreparedRow {
  readonly row: number;
  readonly logits: Float32Array;
  /** Q32 */
  readonly z: Float64Array;
  readonly tau: number;
  readonly indices: Int32Array | null;
  /** the noise's limits times T, Q32 */
  readonly scaledLimits: Float64Array;
}

/** What a row is drawn from: -Infinity for all that masks and filters forbid. */
export function drawnLogits(rule: Rule, call: SamplerCall, row: number): Float32Array {
  const logits = rule.readLogits(call, row);
  if (call.mask !== undefined) rule.applyMask(logits, call, row);
  if (call.topK !== undefined) rule.applyTopK(logits, call.topK[row]!);
  if (call.topP !== undefined) rule.applyTopP(logits, call.topP[row]!, call.temperature[row]!);
  rule.beforeDraws(logits, call, row);
  return logits;
}

function prepareRow(rule: Rule, call: SamplerCall, row: number): PreparedRow {
  const logits = drawnLogits(rule, call, row);
  const tau = rule.tau(call, row);
  return {
    row,
    logits,
    z: zOf(logits),
    tau,
    indices: rule.noiseIndices(logits, call, row),
    scaledLimits: limitsAt(rule, tau),
  };
}

/** Rows of a call often have one temperature. */
function limitsAt(rule: Rule, tau: number): Float64Array {
  const { noise } = rule;
  const known = scaledLimits.get(noise);
  if (known?.tau === tau) return known.limits;
  const limits = noise.limits.map((limit) => (tau === 0 ? 0 : limit * tau * 2 ** -NOISE_SHIFT));
  scaledLimits.set(noise, { tau, limits });
  return limits;
}
const scaledLimits = new WeakMap<Noise, { readonly tau: number; readonly limits: Float64Array }>();

/** What a draw would be if a token were masked; that token where nothing else is left. */
export function drawWithout(rule: Rule, call: SamplerCall, row: number, sample: number, token: number): number {
  const prepared = prepareRow(rule, call, row);
  prepared.z[token] = -Infinity;
  const drawn = draw(rule, call, prepared, sample);
  return drawn < 0 ? token : drawn;
}

/** A token, and its score as logit and noise: their sum may pass 2^53, but two sums compare exactly by differences. */
interface Scored {
  token: number;
  z: number;
  noise: number;
}

function draw(rule: Rule, call: SamplerCall, prepared: PreparedRow, sample: number): number {
  const { row, logits, tau } = prepared;
  if (rule.pick !== null) return rule.pick(logits, call, row, rule.stream(call, row, sample, 0));
  const size = rule.tileSize(call);
  let best: Scored = { token: -1, z: -Infinity, noise: 0 };
  for (let tile = 0; tile * size < logits.length; tile++) {
    const stream = rule.stream(call, row, sample, tile);
    const inTile = bestOfTile(rule, prepared, stream, tile * size, Math.min((tile + 1) * size, logits.length));
    if (inTile.token < 0) continue;
    const told = rule.tileScore === null ? inTile : { token: inTile.token, z: rule.tileScore(inTile.z + inTile.noise, tau), noise: 0 };
    if (isBetter(told.z, told.noise, best.z, best.noise, rule.lastOfEqual)) best = told;
  }
  return best.token < 0 ? rule.nothingDrawn(call) : best.token;
}

function bestOfTile(rule: Rule, { z, tau, indices, scaledLimits }: PreparedRow, stream: Stream, from: number, to: number): Scored {
  const { noise, score, lastOfEqual } = rule;
  let [group, lowGroup] = [-1, -1];
  let high: Uint32Array = NO_WORDS;
  let low: Uint32Array = NO_WORDS;
  let bestToken = -1;
  let bestZ = -Infinity;
  let bestNoise = 0;
  for (let token = from; token < to; token++) {
    let tokenZ = z[token]!;
    if (tokenZ === -Infinity) continue;
    const index = ((indices === null ? token : indices[token]!) + stream.firstIndex) >>> 0;
    if (index >>> 4 !== group) {
      group = index >>> 4;
      high = rule.words(stream, group, 0);
    }
    const word = high[index & 15]!;
    // Most tokens cannot win, whatever their low word is.
    if (score === null && tokenZ - bestZ < bestNoise - scaledLimits[word >>> 31 === 0 ? 33 : Math.clz32(word << 1)]!) continue;
    if (lowGroup !== group) {
      lowGroup = group;
      low = rule.words(stream, group, 1);
    }
    let tokenNoise = scaled(noise.of(word, low[index & 15]!), tau);
    if (score !== null) {
      tokenZ = score(tokenZ, tokenNoise, tau);
      tokenNoise = 0;
    }
    if (!isBetter(tokenZ, tokenNoise, bestZ, bestNoise, lastOfEqual)) continue;
    bestToken = token;
    bestZ = tokenZ;
    bestNoise = tokenNoise;
  }
  return { token: bestToken, z: bestZ, noise: bestNoise };
}

const NO_WORDS = new Uint32Array(16);

function isBetter(z: number, noise: number, bestZ: number, bestNoise: number, lastOfEqual: boolean): boolean {
  const gain = z - bestZ;
  const loss = bestNoise - noise;
  return gain > loss || (lastOfEqual && gain === loss);
}
