/** What measured rates and powers must keep. */
import { PARTS, type FoundBias } from "./power.js";
import { ALPHAS, CASES } from "./rates.js";

export interface Rates {
  readonly runs: number;
  readonly alphas: readonly number[];
  readonly cases: readonly { readonly name: string; readonly isBound: boolean; readonly alarms: readonly number[] }[];
}

export interface Power {
  readonly runs: number;
  /** what was injected, as multiples of what is stated */
  readonly parts: readonly number[];
  readonly lines: readonly FoundBias[];
}

/** counts: of each part of the runs, as countAlarms gives them. */
export function ratesOf(runs: number, counts: readonly (readonly (readonly number[])[])[]): Rates {
  const alarmsOf = (index: number) => ALPHAS.map((_, alpha) => counts.reduce((sum, part) => sum + part[index]![alpha]!, 0));
  return { runs, alphas: ALPHAS, cases: CASES.map(({ name, isBound }, index) => ({ name, isBound, alarms: alarmsOf(index) })) };
}

/** found: of each part of the runs, as countFound gives it. */
export function powerOf(runs: number, found: readonly (readonly FoundBias[])[]): Power {
  const lines = found[0]!.map((line, index) => ({
    ...line,
    alarms: PARTS.map((_, part) => (line.alarms[part] === null ? null : found.reduce((sum, lines) => sum + lines[index]!.alarms[part]!, 0))),
  }));
  return { runs, parts: PARTS, lines };
}

/** At 1e-2: 70 to 130 of 10,000, three standard deviations of such a count; of another number likewise. At the default rate: none. */
export function wrongRates({ runs, cases }: Rates): string[] {
  const slack = 3 * Math.sqrt(0.01 * runs);
  const [least, most] = [Math.max(0, Math.ceil(0.01 * runs - slack)), Math.floor(0.01 * runs + slack)];
  return cases.flatMap(({ name, isBound, alarms: [measured, byDefault] }) => {
    const isWrong = measured! > most || (measured! < least && !isBound);
    return [
      ...(isWrong ? [`${name}: ${measured} alarms in ${runs} bags at 0.01, ${isBound ? "at most" : `${least} to`} ${most} expected`] : []),
      ...(byDefault! > 0 ? [`${name}: ${byDefault} alarms in ${runs} bags at 1e-9`] : []),
    ];
  });
}

/** Stated; and the least that may be measured, within a fifth of it. */
const [POWER, LEAST_POWER] = [0.9, 0.72];

/** The bias that has the stated power must lie between 0.8 and 1.2 of the stated one, by two standard deviations of a share. */
export function wrongPowers({ runs, lines }: Power): string[] {
  const slack = 2 * Math.sqrt((POWER * (1 - POWER)) / runs);
  const isRight = ([less, stated, more]: readonly (number | null)[]) =>
    stated! / runs >= LEAST_POWER && less! / runs < POWER + slack && (more === null || more! / runs > POWER - slack);
  const told = ({ setting, alpha, what, smallest, alarms }: FoundBias) => `${setting}, alpha ${alpha}, ${what}, ${smallest.toPrecision(3)}: ${alarms.join(", ")} of ${runs}`;
  return lines.filter(({ alarms }) => !isRight(alarms)).map(told);
}
