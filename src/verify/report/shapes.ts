/** What a value from outside must look like, written as its type is: a shape says what is wrong with a value, and where. */
import { describe, labelText, nameText } from "../../describe.js";
import { isList, isRecord } from "../values.js";

/** path: of the wrong value, below the value that was looked at: ".draws[3].row" */
interface Problem {
  readonly path: string;
  readonly expected: string;
  readonly got: string;
  /** the value is of the right kind */
  readonly isKind: boolean;
}

/** Says what keeps a value from being a Value, or null. */
export interface Shape<Value> {
  (value: unknown): Problem | null;
  /** For the compiler only: a shape of one type is none of another. */
  readonly of?: Value;
}

/** @throws TypeError, RangeError whose label is label and the path of the wrong value */
export function check<Value>(shape: Shape<Value>, value: unknown, label: string): Value {
  const problem = shape(value);
  if (problem === null) return value as Value;
  const message = `"${label}${problem.path}" expected ${problem.expected}, got ${problem.got}`;
  throw problem.isKind ? new RangeError(message) : new TypeError(message);
}

function wrong(expected: string, value: unknown, isKind: boolean): Problem {
  return { path: "", expected, got: describe(value), isKind };
}

export const flag: Shape<boolean> = (value) => (typeof value === "boolean" ? null : wrong("true or false", value, false));

/** A finite number of at least `from`. */
export function number(from = -Infinity, to = Infinity): Shape<number> {
  const range = from === -Infinity ? "a finite number" : to === Infinity ? `a finite number of at least ${from}` : `a number in [${from}, ${to}]`;
  return (value) => {
    if (typeof value !== "number") return wrong(range, value, false);
    return Number.isFinite(value) && value >= from && value <= to ? null : wrong(range, value, true);
  };
}

/** A whole number in [from, to]. */
export function integer(from: number, to = Number.MAX_SAFE_INTEGER): Shape<number> {
  const range = `a whole number in [${from}, ${to}]`;
  return (value) => {
    if (typeof value !== "number") return wrong(range, value, false);
    return Number.isInteger(value) && value >= from && value <= to ? null : wrong(range, value, true);
  };
}

/** At most `limit` UTF-16 units. */
export function text(limit: number): Shape<string> {
  return (value) => {
    if (typeof value !== "string") return wrong("text", value, false);
    return value.length <= limit ? null : { ...wrong(`text of at most ${limit} characters`, value, true), got: String(value.length) };
  };
}

/** A whole number of 64 bits that a JSON number would round. */
export const wholeText: Shape<string> = (value) => {
  if (typeof value !== "string") return wrong("decimal text", value, false);
  return /^-?[1-9]\d{15,19}$/.test(value) ? null : wrong("decimal text of a whole number past 2^53", value, true);
};

export function oneOf<Choice extends string>(...choices: readonly Choice[]): Shape<Choice> {
  return (value) => (choices.some((choice) => choice === value) ? null : wrong(choices.join(", "), value, typeof value === "string"));
}

export function nullable<Value>(shape: Shape<Value>): Shape<Value | null> {
  return (value) => {
    const problem = value === null ? null : shape(value);
    return problem === null || problem.path !== "" ? problem : { ...problem, expected: `${problem.expected}, or null` };
  };
}

/** A value of the one shape or the other. */
export function either<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return (value) => {
    const [first, second] = [one(value), other(value)];
    if (first === null || second === null) return null;
    return { ...first, expected: `${first.expected}, or ${second.expected}`, isKind: first.isKind || second.isKind };
  };
}

/** A field that may be left out. */
export function optional<Value>(shape: Shape<Value>): Shape<Value | undefined> {
  return (value) => (value === undefined ? null : shape(value));
}

export function list<Value>(shape: Shape<Value>, limit: number): Shape<readonly Value[]> {
  return (value) => {
    if (!isList(value)) return wrong("a list", value, false);
    if (value.length > limit) return { ...wrong(`a list of at most ${limit}`, value, true), got: String(value.length) };
    for (let index = 0; index < value.length; index++) {
      const problem = shape(value[index]);
      if (problem !== null) return { ...problem, path: `[${index}]${problem.path}` };
    }
    return null;
  };
}

/** Texts by names. */
export function texts(count: number, limit: number): Shape<Readonly<Record<string, string>>> {
  const shape = text(limit);
  return (value) => {
    if (!isRecord(value)) return wrong("an object", value, false);
    const entries = Object.entries(value);
    if (entries.length > count) return { ...wrong(`an object of at most ${count} texts`, value, true), got: String(entries.length) };
    for (const [name, entry] of entries) {
      const problem = text(limit)(name) ?? shape(entry);
      if (problem !== null) return { ...problem, path: `[${labelText(nameText(name))}]` };
    }
    return null;
  };
}

/** An object with these fields. Others may stand beside them: a later version of this package may write more. */
export function object<Value>(fields: { readonly [Name in keyof Value]-?: Shape<Value[Name]> }): Shape<Value> {
  const shapes = Object.entries<Shape<unknown>>(fields as Record<string, Shape<unknown>>);
  return (value) => {
    if (!isRecord(value)) return wrong("an object", value, false);
    for (const [name, shape] of shapes) {
      const problem = shape(Object.hasOwn(value, name) ? value[name] : undefined);
      if (problem !== null) return { ...problem, path: `.${name}${problem.path}` };
    }
    return null;
  };
}
