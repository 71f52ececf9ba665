/** How often correct tokens raise an alarm: bags from a seeded generator, each run by itself. */
import { sampleLogits } from "../../src/index.js";
import { SequentialGoodnessOfFit } from "../../src/verify/gof/sequential.js";
import { aliasTable, prepared, SETTINGS, uniforms, type Setting } from "../../test/gof-draws.js";
import { seedOf } from "./seeds.js";

/** Each bag is judged at a rate that can be measured, and at the default. */
export const ALPHAS = [1e-2, 1e-9] as const;

type Alarms = readonly boolean[];

/** Correct tokens of one kind. */
export interface RateCase {
  readonly name: string;
  /** Whether the rates add up to less than alpha by design: then only too many alarms are wrong. */
  readonly isBound: boolean;
  /** Makes it ready; the function judges bag number `run` at each of ALPHAS. */
  start(stream: number): (run: number) => Alarms | Promise<Alarms>;
}

function ofSetting(setting: Setting): RateCase {
  const start = (stream: number) => {
    const bench = prepared(setting, 11);
    const tables = bench.probabilities.map(aliasTable);
    return (run: number) => {
      const uniform = uniforms(seedOf(stream, run));
      const samplers = tables.map((table) => () => table(uniform()));
      return bench.alarms(bench.draw(samplers), ALPHAS);
    };
  };
  return { name: setting.name, isBound: false, start };
}

const SMALL: Setting = { ...SETTINGS[3]!, vocabSize: 64, shape: [1000] };

/** The looks share their draws, so that together they alarm less often than the sum of their rates. */
const ofStream: RateCase = {
  name: "a stream of 10 batches, V = 64, logits of deviation 1.5, 200 draws each",
  isBound: true,
  start(stream) {
    const { logits, probabilities } = prepared(SMALL, 6);
    const table = aliasTable(probabilities[0]!);
    return (run) => {
      const uniform = uniforms(seedOf(stream, run));
      const batches = Array.from({ length: 10 }, () => Int32Array.from({ length: 200 }, () => table(uniform())));
      return ALPHAS.map((alpha) => {
        const judge = new SequentialGoodnessOfFit({ logits, alpha });
        for (const tokens of batches) judge.add({ tokens });
        return !judge.finish().passed;
      });
    };
  },
};

const ofThisPackage: RateCase = {
  name: "this package's own, V = 64, logits of deviation 1.5, 1000 draws",
  isBound: false,
  start() {
    const bench = prepared(SMALL, 5);
    return async (run) => {
      const { tokens } = await sampleLogits({ logits: bench.logits, seed: 7n, position: run, numSamples: 1000, backend: "wasm" });
      return bench.alarms(tokens, ALPHAS);
    };
  },
};

export const CASES: readonly RateCase[] = [...SETTINGS.map(ofSetting), ofStream, ofThisPackage];

/** [CASES][ALPHAS], the alarms of runs index, index + step, ... below `runs`. */
export async function countAlarms(runs: number, index: number, step: number): Promise<number[][]> {
  const counts: number[][] = [];
  for (const [stream, one] of CASES.entries()) {
    const judge = one.start(stream);
    const alarms = ALPHAS.map(() => 0);
    for (let run = index; run < runs; run += step) (await judge(run)).forEach((isAlarm, alpha) => (alarms[alpha]! += Number(isAlarm)));
    counts.push(alarms);
  }
  return counts;
}
