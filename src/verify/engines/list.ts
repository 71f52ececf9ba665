/** The replays of other engines' samplers by name: what `flash-sampling check --engine NAME` takes. */
import type { EngineReplay, OptionValues } from "./engine.js";
import { flashInfer } from "./flashinfer.js";
import { flashSampling } from "./flashsampling.js";
import { jax } from "./jax.js";
import { llamaCpp } from "./llamacpp.js";
import { sglang } from "./sglang.js";
import { torch } from "./torch.js";
import { transformersJs } from "./transformersjs.js";
import { vllmMrv2 } from "./vllm-mrv2.js";
import { vllmMurmur3 } from "./vllm-murmur3.js";

export type { EngineDraw, EngineOption, EngineReplay, OptionValues } from "./engine.js";

export const engines: readonly EngineReplay[] = [vllmMurmur3, vllmMrv2, sglang, flashInfer, flashSampling, torch, jax, llamaCpp, transformersJs];

/** @throws RangeError for a name that is not in the list */
export function engineOf(name: string): EngineReplay {
  const found = engines.find((engine) => engine.name === name);
  if (found === undefined) throw new RangeError(`"engine" expected one of ${engines.map((engine) => engine.name).join(", ")}, got ${name}`);
  return found;
}

/** An engine's options: the values that `scores` takes, and the text of each, given or default. */
export interface ReadOptions {
  readonly values: OptionValues;
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Reads texts such as "block-v=128"; an option that is not given has its default, one that is given twice the later text.
 * @throws RangeError for a text without "=", a name that the engine does not have, or a value that it does not take
 */
export function readEngineOptions(engine: EngineReplay, given: readonly string[]): ReadOptions {
  const texts = Object.fromEntries(Object.entries(engine.options).map(([name, option]) => [name, option.default]));
  for (const text of given) {
    const [name, value] = splitOption(text);
    if (!Object.hasOwn(engine.options, name)) {
      const names = Object.keys(engine.options);
      throw new RangeError(`"--engine-option" expected ${names.length === 0 ? "none" : `one of ${names.join(", ")}`} for ${engine.name}, got ${name}`);
    }
    texts[name] = value;
  }
  return { texts, values: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, parseNamed(engine, name, text)])) };
}

function splitOption(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new RangeError(`"--engine-option" expected NAME=VALUE, got ${JSON.stringify(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parseNamed(engine: EngineReplay, name: string, text: string): unknown {
  try {
    return engine.options[name]!.parse(text);
  } catch (error) {
    throw new RangeError(`"--engine-option ${name}" ${(error as Error).message}`);
  }
}
