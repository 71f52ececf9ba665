/**
 * transformers.js' sampler with do_sample.
 * Source: huggingface/transformers.js, packages/transformers/src/{utils/random.js, generation/logits_sampler.js} (Apache-2.0); recorded with 4.3.2 in Node 20.
 *
 * All rows and calls share one mt19937, seeded as Python's random.seed does it. A draw takes one uniform number, two words, and walks along the probabilities
 * of the top_k highest, the highest first, until it is passed. Probabilities are f32, sums f64.
 */
import { overTemperatureRounded, wholeOption } from "./asked.js";
import { spanOf, walkByRank, walkScores, weightsOf, type ExpError } from "./cdf.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { drawsBeforeOption, twisterOfWords, uniformPython, uniformsOf, type Twister } from "./mersenne.js";

/** Math.exp, rounded to f32, and the rounded division after it. */
const EXP_ERROR: ExpError = { relative: () => 2.01 * 2 ** -24, absolute: 2 ** -148 };

type Options = { readonly "top-k": number; readonly "draws-before": number | null };

const uniformOf = uniformsOf(seeded, uniformPython);

export const transformersJs: EngineReplay<Options> = {
  name: "transformersjs",
  title: "transformers.js, do_sample",
  source: {
    project: "huggingface/transformers.js",
    file: "packages/transformers/src/generation/logits_sampler.js",
    version: "recorded with 4.3.2",
    licence: "Apache-2.0",
  },
  status: "recorded",
  unproven: ["browsers, whose Math.exp may differ in the last bit and whose top-k may order equal logits otherwise"],
  limits: ["seeds up to 2^53 - 1", "temperature 0 gives NaN in the engine: it has no such draw", "give the logits that its processors leave; top-k is the sampler's own"],
  options: {
    "top-k": wholeOption("top_k of the generation config, whose own default is 50; 0 keeps all", 0, 0, 2 ** 31 - 1),
    "draws-before": drawsBeforeOption("position"),
  },
  scores(logits, draw, options) {
    const scaled = overTemperatureRounded(logits, draw.temperature);
    const kept = options["top-k"] === 0 ? draw.vocabSize : Math.min(options["top-k"], draw.vocabSize);
    const weights = weightsOf(scaled, EXP_ERROR);
    const uniform = uniformOf(draw.seed, drawsBefore(draw, options["draws-before"]));
    return walkScores(weights, walkByRank(scaled, weights, kept, "by-id"), spanOf(uniform, 0));
  },
};

/** As random.seed of a number: its words, the low one first, without upper ones that are 0. */
function seeded(seed: bigint): Twister {
  if (seed < 0n || seed > BigInt(Number.MAX_SAFE_INTEGER)) throw new RangeError(`"seed" expected an integer from 0 to 2^53 - 1, got ${seed}`);
  const words = [Number(seed & 0xffffffffn), Number(seed >> 32n)];
  return twisterOfWords(words[1] === 0 ? words.slice(0, 1) : words);
}

/** Rows are drawn one after the other, in each step. */
function drawsBefore({ position, row, rows, numSamples, sample }: EngineDraw, given: number | null): bigint {
  const inStep = row * numSamples + sample;
  return given === null ? position * BigInt(rows * numSamples) + BigInt(inStep) : BigInt(given) + BigInt(inStep);
}
