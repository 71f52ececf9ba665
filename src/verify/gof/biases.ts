/** How biases are called that draws would show, and whether they are all large. */
import type { GofDocument } from "../documents.js";
import { numberText } from "./names.js";

type Bias = GofDocument["power"][number];

export const OF_TOKEN = "relative increase of token";
export const OF_MASS = "relative increase of the mass";
export const OF_ALL = "root mean square of relative biases of all tokens, random in sign";

/** A larger bias of the token that shows the smallest one is a gross fault. */
const GROSS = 0.25;

/** Whether so many draws show nothing but gross faults: no bias of all tokens, and of single ones none that is small. */
export function showsOnlyGross(power: readonly Bias[]): boolean {
  return !power.some(({ what, smallest }) => what === OF_ALL || (what.startsWith(OF_TOKEN) && smallest <= GROSS));
}

/** "+25 %" for an increase by a quarter, "27 times as often" for large ones; "25 %" for what has no sign. */
export function biasText({ what, smallest }: Pick<Bias, "what" | "smallest">): string {
  const isIncrease = what.startsWith("relative increase");
  if (isIncrease && smallest >= 10) return `${numberText(1 + smallest)} times as often`;
  return `${isIncrease ? "+" : ""}${numberText(100 * smallest)} %`;
}
