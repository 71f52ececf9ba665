/** What was found, as the document that every output is made from. */
import type { CheckedCall } from "../../arguments.js";
import { SPEC_VERSION } from "../../spec/constants.js";
import { VERSION } from "../../version.js";
import type { CheckDocument, CheckedDraw } from "../documents.js";
import { OURS, type Asked } from "./options.js";
import type { CheckTask, Judged } from "./task.js";

export function documentOf(task: CheckTask, call: CheckedCall, asked: Asked, headDigest: string | null, { draws, explainedBy }: Judged): CheckDocument {
  const { source, error, temperature } = task;
  const { shape, rowCount, vocabSize } = source;
  const count = (verdict: CheckedDraw["verdict"]): number => draws.reduce((sum, draw) => sum + (draw.verdict === verdict ? 1 : 0), 0);
  const counts = { exact: count("exact"), nearTie: count("near-tie"), wrong: count("wrong") };
  return {
    kind: "check",
    specVersion: SPEC_VERSION,
    version: VERSION,
    passed: counts.wrong === 0,
    engine: describeEngine(asked, task, call),
    inputs: {
      rows: rowCount,
      numSamples: call.samples,
      vocabSize,
      hiddenSize: shape?.hiddenSize ?? null,
      dtype: shape?.dtype ?? null,
      headDigest,
      seed: typeof call.seed === "bigint" ? String(call.seed) : "one a row",
      temperature: typeof temperature === "number" ? temperature : ofRows(Array.from(temperature)),
      position: ofRows(call.rows.map(({ position }) => position)),
      sequence: asked === null ? ofRows(call.rows.map(({ sequence }) => sequence)) : null,
    },
    logitError: { name: error.name, absolute: error.absolute, relative: error.relative, rounding: error.rounding },
    counts,
    explainedBy,
    draws,
  };
}

/** The value of all rows, or how it goes with them. */
function ofRows(values: readonly number[]): number | string {
  if (values.every((value) => value === values[0])) return values[0]!;
  return values.every((value, row) => value === row) ? "the row's index" : "one a row";
}

function describeEngine(asked: Asked, { source, requests }: CheckTask, { samples: numSamples }: CheckedCall): CheckDocument["engine"] {
  if (asked === null) return { name: OURS, title: `flash-sampling, rule ${SPEC_VERSION}`, status: "exact", unproven: [], options: {} };
  const { name, title, status } = asked.engine;
  const made = { rows: source.rowCount, numSamples, vocabSize: source.vocabSize, positions: requests.map(({ position }) => position) };
  const unproven = asked.engine.unprovenIn?.(made, asked.options.values) ?? asked.engine.unproven;
  return { name, title, status, unproven, options: asked.options.texts };
}
