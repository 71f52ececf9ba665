/** Rows that their batch changes. */
import type { Mutant } from "../mutant.js";
import { tauOf } from "../../../src/spec/score.js";

export const ROW_MUTANTS: readonly Mutant[] = [
  {
    name: "last-row-dropped",
    fault: "of an odd number of rows the last is not written",
    patch: () => ({
      finish(tokens, { rows, numSamples }) {
        if (rows > 1 && rows % 2 === 1) tokens.fill(0, (rows - 1) * numSamples);
      },
    }),
    check: "plain",
    gof: "odd rows",
    invariance: "batch-permutation",
  },
  {
    name: "nan-spreads",
    fault: "one row with a NaN leaves all without a token",
    patch: ({ isInvalid }) => ({ isInvalid: (call) => Array.from({ length: call.rows }, (_, row) => row).some((row) => isInvalid(call, row)) }),
    check: "rows without a token",
    invariance: "nan-row",
  },
  {
    name: "greedy-spreads",
    fault: "one greedy row makes the batch greedy",
    patch: () => ({ tau: ({ temperature }, row) => (temperature.includes(0) ? 0 : tauOf(temperature[row]!)) }),
    check: "greedy batchmate",
    invariance: "row-temperatures",
  },
  {
    name: "temperature-of-row-0",
    fault: "all rows have the temperature of the first",
    patch: () => ({ tau: ({ temperature }) => tauOf(temperature[0]!) }),
    check: "plain",
    gof: "temperatures of rows",
    invariance: "row-temperatures",
  },
  {
    name: "samples-first",
    fault: "tokens come as [samples, rows]",
    patch: () => ({
      finish(tokens, { rows, numSamples }) {
        const given = tokens.slice();
        for (let row = 0; row < rows; row++) for (let sample = 0; sample < numSamples; sample++) tokens[sample * rows + row] = given[row * numSamples + sample]!;
      },
    }),
    check: "plain",
    gof: "temperatures of rows",
    invariance: "batch-permutation",
  },
];
