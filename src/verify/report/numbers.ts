/** Numbers as text, the same on every machine: no locale decides. */

/** A whole number in groups of three digits. */
export function whole(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Four digits or more, without zeros at the end; null: a dash. */
export function decimal(value: number | null): string {
  if (value === null) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e3 && size < 1e6) return whole(Math.round(value));
  if (size < 1e-3 || size >= 1e6) return value.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e");
  return value.toPrecision(4).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** A number that the reader may want to type again: all digits. Text is one past 2^53. */
export function exact(value: number | string): string {
  return String(value);
}

/** "1 draw", "2 draws" */
export function counted(count: number, noun: string): string {
  return `${whole(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 10^exponent, as axes show it. */
export function powerOfTen(exponent: number): string {
  const digits = Array.from(String(Math.abs(exponent)), (digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `10${exponent < 0 ? "⁻" : ""}${digits}`;
}
