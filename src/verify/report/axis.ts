/** Axes: from numbers to places on the canvas, and the numbers that are written beside them. */
import { scaleLinear, scaleLog } from "d3-scale";
import { decimal, powerOfTen, whole } from "./numbers.js";

/** What is drawn of an axis. Places are pixels of the canvas. */
export interface Ruler {
  readonly title: string;
  readonly ticks: readonly { readonly at: number; readonly label: string }[];
  /** first and last place */
  readonly range: readonly [number, number];
}

export interface Axis extends Ruler {
  /** the place of a number; numbers past an end lie at that end */
  at(value: number): number;
  /** first and last number that has a place of its own */
  readonly domain: readonly [number, number];
}

export interface AxisOptions {
  readonly title: string;
  readonly range: readonly [number, number];
}

/** Pixels from tick to tick, at least: a label across, a line of text upwards. */
const ROOM_ACROSS = 58;
const ROOM_UP = 30;

/** Ticks that there is room for. */
function roomFor([first, last]: readonly [number, number]): number {
  return Math.max(2, Math.floor(Math.abs(last - first) / (last > first ? ROOM_ACROSS : ROOM_UP)));
}

/** From here on ticks are in thousands, millions and so on: 200k, 3M. */
const LARGE = 1e4;
/** Beyond, nothing is told apart on a linear axis. */
const FARTHEST = 1e9;

/** from < to. isWhole: of whole numbers, which alone get ticks. */
export function linearAxis(from: number, to: number, { title, range }: AxisOptions, isWhole = false): Axis {
  const count = roomFor(range);
  const scale = scaleLinear([Math.max(from, -FARTHEST), Math.min(to, FARTHEST)], range).nice(count).clamp(true);
  const isLarge = Math.max(...scale.domain().map(Math.abs)) >= LARGE;
  const format = isLarge ? scale.tickFormat(count, "~s") : decimal;
  const values = scale.ticks(count).filter((value) => !isWhole || Number.isInteger(value));
  const ticks = values.map((value) => ({ at: scale(value), label: value === 0 ? "0" : format(value).replace("-", "−") }));
  return { title, range, at: scale, ticks, domain: scale.domain() as [number, number] };
}

/** Values that a logarithmic axis cannot show, 0 for one, get a place of their own below all others. */
export interface Underflow {
  readonly label: string;
}

/** Below, powers of ten are no longer exact numbers, and then 0. */
const LEAST_EXPONENT = -300;
/** So few have lines between the powers of ten. */
const FEW_DECADES = 3;
/** Between these powers of ten numbers are written out. */
const PLAIN: readonly [number, number] = [-3, 4];

/** 0 < from <= to <= 1e301. The axis begins and ends with powers of ten. */
export function logAxis(from: number, to: number, { title, range }: AxisOptions, underflow: Underflow | null = null): Axis {
  const last = Math.max(LEAST_EXPONENT + 1, Math.ceil(Math.log10(to) - ROUNDING));
  const first = Math.max(LEAST_EXPONENT, Math.min(Math.floor(Math.log10(from) + ROUNDING), last - 1));
  const stride = Math.ceil((last - first + 1) / roomFor(range));
  const decades = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((exponent) => (exponent - last) % stride === 0);
  const gutter = underflow === null ? 0 : range[1] > range[0] ? GUTTER_ACROSS : -GUTTER_UP;
  const lowest = 10 ** first;
  const scale = scaleLog([lowest, 10 ** last], [range[0] + gutter, range[1]]).clamp(true);
  const isPlain = decades.every((exponent) => exponent >= PLAIN[0] && exponent <= PLAIN[1]);
  const labelled = decades.map((exponent) => ({ at: scale(10 ** exponent), label: isPlain ? plainPower(exponent) : powerOfTen(exponent) }));
  const between = last - first > FEW_DECADES ? [] : scale.ticks().filter((value) => !Number.isInteger(Number(Math.log10(value).toFixed(9)))).map((value) => ({ at: scale(value), label: "" }));
  const ticks = [...between, ...labelled];
  return {
    title,
    range,
    at: (value) => (value < lowest * (1 - ROUNDING) && underflow !== null ? range[0] + gutter / 4 : scale(Math.max(value, lowest))),
    ticks: underflow === null ? ticks : [{ at: range[0] + gutter / 4, label: underflow.label }, ...ticks],
    domain: [lowest, 10 ** last],
  };
}

/** log10 of a power of ten may be off in its last bits. */
const ROUNDING = 1e-9;
/** Pixels for underflow: two labels fit side by side, or one above the other. */
const GUTTER_ACROSS = 44;
const GUTTER_UP = 26;

/** Numbers of a logarithmic axis, evenly apart, for a curve. */
export function numbersAlong({ domain }: Axis): number[] {
  const [first, last] = domain.map(Math.log10) as [number, number];
  return Array.from({ length: CURVE + 1 }, (_, index) => 10 ** (first + (last - first) * (index / CURVE)));
}

/** Pieces of a curve. */
const CURVE = 64;

function plainPower(exponent: number): string {
  return exponent < 0 ? (10 ** exponent).toFixed(-exponent) : whole(10 ** exponent);
}

/** The least and the greatest of numbers above 0, or [1, 1] where there is none. */
export function positiveExtent(values: Iterable<number>): [number, number] {
  let [least, greatest] = [Infinity, 0];
  for (const value of values) {
    if (!(value > 0)) continue;
    least = Math.min(least, value);
    greatest = Math.max(greatest, value);
  }
  return greatest === 0 ? [1, 1] : [least, greatest];
}
