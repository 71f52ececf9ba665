/** What an engine can be asked for, and its options' texts. */
import { exactly, over, type Bounded, type Slack } from "../bounded.js";
import type { EngineDraw, EngineOption } from "./engine.js";

/** @throws RangeError where the draw has a position other than 0, and the engine has no positions */
export function expectNoPosition({ position }: EngineDraw, why: string): void {
  if (position !== 0n) throw new RangeError(`"position" expected 0: ${why}, got ${position}`);
}

/** @throws RangeError where the draw is a further sample of its row */
export function expectOneSample({ sample }: EngineDraw, why: string): void {
  if (sample !== 0) throw new RangeError(`"sample" expected 0: ${why}, got ${sample}`);
}

/**
 * Logits over temperature, as the engine divides them; as they are at temperature 1.
 * @throws RangeError for temperature 0, which the engine does not have
 */
export function overTemperature(logits: Bounded, temperature: number, slack: Slack): Bounded {
  expectWarm(temperature);
  return temperature === 1 ? logits : over(logits, temperature, slack);
}

/** The same where the engine rounds the quotient to the nearest f32: to the bit for exact logits, so that equal ones stay equal. */
export function overTemperatureRounded(logits: Bounded, temperature: number): Bounded {
  expectWarm(temperature);
  const quotient = (logit: number): number => Math.fround(logit / temperature);
  const value = logits.value.map(quotient);
  return logits.low === logits.high ? exactly(value) : { value, low: logits.low.map(quotient), high: logits.high.map(quotient) };
}

function expectWarm(temperature: number): void {
  if (!(temperature > 0)) throw new RangeError(`"temperature" expected more than 0 for this engine, got ${temperature}`);
}

export function wholeOption(description: string, standard: number, from: number, to: number): EngineOption<number> {
  return {
    description: `${description}; ${from} to ${to}`,
    default: String(standard),
    parse: (text) => readWhole(text, from, to),
  };
}

/** A whole number, or a word in its place, which parse reads as null. */
export function wholeOrWordOption(description: string, word: string, from: number, to: number): EngineOption<number | null> {
  return {
    description: `${description}; ${from} to ${to}, or ${word}`,
    default: word,
    parse: (text) => (text === word ? null : readWhole(text, from, to)),
  };
}

export function choiceOption<Choice extends string>(description: string, choices: readonly [Choice, ...Choice[]]): EngineOption<Choice> {
  return {
    description: `${description}: ${choices.join(" or ")}`,
    default: choices[0],
    parse(text) {
      const choice = choices.find((known) => known === text);
      if (choice === undefined) throw new RangeError(`expected ${choices.join(" or ")}, got ${JSON.stringify(text)}`);
      return choice;
    },
  };
}

function readWhole(text: string, from: number, to: number): number {
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (value >= from && value <= to) return value;
  throw new RangeError(`expected a whole number from ${from} to ${to}, got ${JSON.stringify(text)}`);
}
