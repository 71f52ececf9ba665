/**
 * llama.cpp's dist sampler on the host.
 * Source: ggml-org/llama.cpp, src/llama-sampler.cpp (MIT); recorded with its release v0.5.0 as built in @node-llama-cpp/linux-x64 3.22.1.
 *
 * Each sampler has a std::mt19937 of its own. A draw takes one uniform number of it, two words, and walks along the exponentials in the order in which tokens
 * reach the sampler, until their sum reaches its share: that of ids, or highest first where top-k or top-p come before. Exponentials are f32, sums f64.
 */
import { choiceOption, overTemperatureRounded } from "./asked.js";
import { spanOf, walkById, walkByRank, walkScores, weightsOf, type ExpError } from "./cdf.js";
import type { EngineDraw, EngineReplay } from "./engine.js";
import { drawsBeforeOption, twister, uniform53, uniformsOf } from "./mersenne.js";

/** expf of C libraries, with room, and the rounding of its argument. */
const EXP_ERROR: ExpError = { relative: (distance) => 2 ** -21 + distance * 2 ** -24, absolute: 2 ** -126 };
/** Versions differ in whether they round the uniform number to f32. */
const UNIFORM_ERROR = 2 ** -25;
/** LLAMA_DEFAULT_SEED: the engine takes another one then. */
const RANDOM_SEED = 2n ** 32n - 1n;

type Options = { readonly order: "ids" | "ranks"; readonly "draws-before": number | null };

const uniformOf = uniformsOf((seed) => twister(Number(seed)), uniform53);

export const llamaCpp: EngineReplay<Options> = {
  name: "llamacpp",
  title: "llama.cpp's dist sampler",
  source: { project: "ggml-org/llama.cpp", file: "src/llama-sampler.cpp", version: "recorded with v0.5.0 (libstdc++)", licence: "MIT" },
  status: "recorded",
  unproven: ["builds with other C++ libraries than libstdc++, whose uniform number may differ in the last bit", "versions that round the uniform number to f32"],
  limits: [
    "not its samplers on the GPU",
    "order=ranks: equal logits lie in any order, so a draw among them is a near-tie",
    "give the logits that reach the sampler, masked where top-k, top-p and the like have taken tokens away",
    "seeds below 2^32 - 1, which stands for a random one",
  ],
  options: {
    order: choiceOption("of tokens on the walk: as ids, or highest first, as top-k and top-p leave them", ["ids", "ranks"]),
    "draws-before": drawsBeforeOption("position"),
  },
  scores(logits, draw, options) {
    if (draw.seed < 0n || draw.seed >= RANDOM_SEED) throw new RangeError(`"seed" expected an integer from 0 to 2^32 - 2, got ${draw.seed}`);
    const scaled = overTemperatureRounded(logits, Math.fround(draw.temperature));
    const weights = weightsOf(scaled, EXP_ERROR);
    const walk = options.order === "ids" ? walkById(weights) : walkByRank(scaled, weights, draw.vocabSize, "any");
    const uniform = uniformOf(draw.seed, drawsBefore(draw, options["draws-before"]));
    return walkScores(weights, walk, spanOf(uniform, UNIFORM_ERROR));
  },
};

/** A sampler serves one sequence: rows do not count. */
const drawsBefore = ({ position, numSamples, sample }: EngineDraw, given: number | null): bigint =>
  given === null ? position * BigInt(numSamples) + BigInt(sample) : BigInt(given + sample);
