/** The replays of other engines' samplers by name: what `flash-sampling check --engine NAME` takes. */
import { describe, nameText } from "../../describe.js";
import { checkText, fieldsOf, isReadable, isRecord, readTexts } from "../values.js";
import type { EngineReplay, OptionValues } from "./engine.js";
import { flashInfer } from "./flashinfer.js";
import { flashSampling } from "./flashsampling.js";
import { guarded } from "./guarded.js";
import { jax } from "./jax.js";
import { llamaCpp } from "./llamacpp.js";
import { sglang } from "./sglang.js";
import { torch } from "./torch.js";
import { transformersJs } from "./transformersjs.js";
import { vllmMrv2 } from "./vllm-mrv2.js";
import { vllmMurmur3 } from "./vllm-murmur3.js";

export type { EngineCall, EngineDraw, EngineOption, EngineReplay, OptionValues } from "./engine.js";

const REPLAYS: readonly EngineReplay[] = [vllmMurmur3, vllmMrv2, sglang, flashInfer, flashSampling, torch, jax, llamaCpp, transformersJs];

export const engines: readonly EngineReplay[] = REPLAYS.map(guarded);

/** @throws TypeError, RangeError for a name that is not in the list */
export function engineOf(name: string): EngineReplay {
  checkText("engine", name);
  const found = engines.find((engine) => engine.name === name);
  if (found === undefined) throw new RangeError(`"engine" expected one of ${engines.map((engine) => engine.name).join(", ")}, got ${nameText(name)}`);
  return found;
}

/** An engine's options: the values that `scores` takes, and the text of each, given or default. */
export interface ReadOptions {
  readonly values: OptionValues;
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Reads texts such as "block-v=128"; an option that is not given has its default, one that is given twice the later text.
 * engine: of the list, or another with options as those have
 * @throws TypeError for what is no engine, or no list of texts; RangeError for a text without "=", a name that the engine does not have, or a value that it does
 *   not take
 */
export function readEngineOptions(engine: EngineReplay, given: readonly string[]): ReadOptions {
  const { name: engineName, options } = readEngine(engine);
  const texts = Object.fromEntries(Object.entries(options).map(([name, option]) => [name, option.default]));
  for (const text of readTexts("given", given, TEXTS_LIMIT)) {
    const [name, value] = splitOption(text);
    if (!Object.hasOwn(options, name)) {
      const names = Object.keys(options);
      throw new RangeError(`"--engine-option" expected ${names.length === 0 ? "none" : `one of ${names.join(", ")}`} for ${nameText(engineName)}, got ${nameText(name)}`);
    }
    texts[name] = value;
  }
  return { texts, values: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, options[name]!.parse(text, `--engine-option ${name}`)])) };
}

function splitOption(text: string): [name: string, value: string] {
  const at = text.indexOf("=");
  if (at < 1) throw new RangeError(`"--engine-option" expected NAME=VALUE, got ${describe(text)}`);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** Options of an engine that anybody gives, some of them again and again. */
export const TEXTS_LIMIT = 1000;

/** The engine's name and options, each read once. */
function readEngine(engine: unknown): Pick<EngineReplay, "name" | "options"> {
  const { name, options } = fieldsOf(engine, ["name", "options"]);
  const names = isRecord(options) && isReadable(options) ? Object.keys(options) : null;
  const known = fieldsOf(options, names ?? []);
  if (typeof name === "string" && names?.every((option) => isOption(known[option]))) return { name, options: known as EngineReplay["options"] };
  throw new TypeError(`"engine" expected an engine of the list, got ${describe(engine)}`);
}

function isOption(option: unknown): boolean {
  const { default: text, parse } = fieldsOf(option, ["default", "parse"]);
  return typeof text === "string" && typeof parse === "function";
}
