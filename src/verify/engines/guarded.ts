/** What a replay is asked, checked before any of its numbers is made. */
import { checkInteger } from "../../arguments.js";
import { describe } from "../../describe.js";
import { SAMPLE_LIMIT } from "../../spec/constants.js";
import { checkBounded, type Bounded } from "../bounded.js";
import { readOptions } from "../guards.js";
import type { EngineDraw, EngineReplay, OptionValues } from "./engine.js";

const SIZE_LIMIT = 2 ** 31;
/** Beyond, places in a call are no longer whole numbers of an f64. */
const SCORES_LIMIT = 2 ** 53;
/** Far beyond what engines take, which is theirs to refuse, but still short to print. */
const BITS_LIMIT = 1n << 128n;

/** The same engine, which takes nothing unread. */
export function guarded(engine: EngineReplay): EngineReplay {
  return {
    ...engine,
    scores(logits, draw, options) {
      const checked = readDraw(draw);
      checkLogits(logits, checked.vocabSize);
      return engine.scores(logits, checked, readValues(engine, options));
    },
  };
}

function readDraw(given: EngineDraw): EngineDraw {
  const draw = readOptions(given, ["seed", "position", "row", "rows", "sample", "numSamples", "vocabSize", "temperature"], "draw");
  const { seed, position, row, rows, sample, numSamples, vocabSize, temperature } = draw;
  for (const [name, value] of Object.entries({ seed, position })) {
    if (typeof value !== "bigint") throw new TypeError(`"${name}" expected a bigint, got ${describe(value)}`);
    if (value >= BITS_LIMIT || value <= -BITS_LIMIT) throw new RangeError(`"${name}" expected an integer of 64 bits, got ${describe(value)}`);
  }
  checkInteger("rows", rows, 1, SIZE_LIMIT + 1);
  checkInteger("row", row, 0, rows);
  checkInteger("numSamples", numSamples, 1, SAMPLE_LIMIT + 1);
  checkInteger("sample", sample, 0, numSamples);
  checkInteger("vocabSize", vocabSize, 1, SIZE_LIMIT);
  if (rows * numSamples * vocabSize > SCORES_LIMIT) throw new RangeError(`"rows" expected at most 2^53 scores in a call, got ${rows} rows * ${numSamples} samples * ${vocabSize} tokens`);
  if (typeof temperature !== "number") throw new TypeError(`"temperature" expected a number of 0 or more, got ${describe(temperature)}`);
  if (!(temperature >= 0 && temperature < Infinity)) throw new RangeError(`"temperature" expected a number of 0 or more, got ${temperature}`);
  return draw;
}

function checkLogits(logits: Bounded, vocabSize: number): void {
  checkBounded("logits", logits);
  const { value, low, high } = logits;
  if (value.length !== vocabSize) throw new RangeError(`"logits" expected ${vocabSize}, as vocabSize says, got ${value.length}`);
  for (let token = 0; token < vocabSize; token++) {
    if (low[token]! <= value[token]! && value[token]! <= high[token]! && value[token]! < Infinity) continue;
    throw new RangeError(`"logits" expected numbers or -Infinity within their bounds, got ${value[token]} within [${low[token]}, ${high[token]}] for token ${token}`);
  }
}

/** All of the engine's own options: one that is left out would be taken for some other value. */
function readValues({ name, options: known }: EngineReplay, given: OptionValues): OptionValues {
  const names = Object.keys(known);
  const values = readOptions(given, names.length === 0 ? [`none for ${name}`] : names);
  for (const [option, { isValue, expected }] of Object.entries(known)) {
    const value: unknown = values[option];
    if (isValue(value)) continue;
    throw new (typeof value === "number" || typeof value === "string" ? RangeError : TypeError)(`"options.${option}" expected ${expected}, got ${describe(value)}`);
  }
  return values;
}
