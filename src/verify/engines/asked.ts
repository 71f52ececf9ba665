/** What an engine can be asked for, and its options' texts. */
import { describe } from "../../describe.js";
import { exactly, over, type Bounded, type Slack } from "../bounded.js";
import { checkText } from "../values.js";
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
    expected: wholeText(from, to),
    isValue: (value): value is number => isWhole(value, from, to),
    parse: (text, label) => readWhole(label, text, from, to),
  };
}

/** A whole number, or a word in its place, which parse reads as null. */
export function wholeOrWordOption(description: string, word: string, from: number, to: number): EngineOption<number | null> {
  return {
    description: `${description}; ${from} to ${to}, or ${word}`,
    default: word,
    expected: `${wholeText(from, to)}, or null`,
    isValue: (value): value is number | null => value === null || isWhole(value, from, to),
    parse: (text, label) => (text === word ? null : readWhole(label, text, from, to)),
  };
}

export function choiceOption<Choice extends string>(description: string, choices: readonly [Choice, ...Choice[]]): EngineOption<Choice> {
  const expected = choices.join(" or ");
  return {
    description: `${description}: ${expected}`,
    default: choices[0],
    expected,
    isValue: (value): value is Choice => choices.some((known) => known === value),
    parse(text, label = TEXT) {
      checkText(label, text);
      const choice = choices.find((known) => known === text);
      if (choice === undefined) throw new RangeError(`"${label}" expected ${expected}, got ${describe(text)}`);
      return choice;
    },
  };
}

/** What a text is called where nobody names it. */
const TEXT = "text";

const wholeText = (from: number, to: number): string => `a whole number from ${from} to ${to}`;
const isWhole = (value: unknown, from: number, to: number): boolean => Number.isInteger(value) && (value as number) >= from && (value as number) <= to;

function readWhole(label = TEXT, text: string, from: number, to: number): number {
  checkText(label, text);
  const value = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (isWhole(value, from, to)) return value;
  throw new RangeError(`"${label}" expected ${wholeText(from, to)}, got ${describe(text)}`);
}
