/**
 * How long goodnessOfFit takes: `node bench/gof/bench.mjs`, after `npm run build`. Processor time of one process, its lists and powers
 * included; the median of three.
 */
import { goodnessOfFit } from "../../dist/verify.js";
import { sampleLogits } from "../../dist/node.js";

const SHAPES = [
  { vocabSize: 151_936, rows: 1, numSamples: 1_000_000 },
  { vocabSize: 151_936, rows: 64, numSamples: 1000 },
  { vocabSize: 32_000, rows: 1, numSamples: 100_000 },
  { vocabSize: 2000, rows: 2000, numSamples: 1 },
];

for (const { vocabSize, rows, numSamples } of SHAPES) {
  const logits = normalLogits(rows * vocabSize);
  const tokens = await drawn(logits, vocabSize, numSamples);
  const shape = numSamples === 1 ? [rows] : rows === 1 ? [numSamples] : [rows, numSamples];
  const times = [1, 2, 3].map(() => {
    const start = process.cpuUsage();
    goodnessOfFit({ tokens, shape, logits, vocabSize });
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1e6;
  });
  console.log(`V = ${vocabSize}, ${rows} rows, ${numSamples} draws a row: ${times.sort((a, b) => a - b)[1].toFixed(1)} s`);
}

function normalLogits(count) {
  let state = 1;
  const uniform = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) + 0.5) / 2 ** 32;
  return Float32Array.from({ length: count }, () => 2 * Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform()));
}

/** By the inverse distribution function: a million draws by noise would take longer than the test. */
async function drawn(logits, vocabSize, numSamples) {
  if (numSamples <= 1000) return (await sampleLogits({ logits, vocabSize, numSamples, seed: 1n, backend: "wasm" })).tokens;
  const sums = new Float64Array(vocabSize);
  let sum = 0;
  for (let token = 0; token < vocabSize; token++) sums[token] = sum += Math.exp(logits[token]);
  let state = 7;
  const word = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0);
  return Int32Array.from({ length: numSamples }, () => {
    const point = ((word() >>> 6) * 2 ** 26 + (word() >>> 6)) * 2 ** -52 * sum;
    let [low, high] = [0, vocabSize - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle] > point) high = middle;
      else low = middle + 1;
    }
    return low;
  });
}
