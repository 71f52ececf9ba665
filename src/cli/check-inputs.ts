/** What check is given, from the options to the call of the library. */
import type { Command } from "commander";
import type { BackendName } from "../backends/list.js";
import { openSource, type ByteSource } from "../head/source.js";
import { check, type CheckOptions } from "../verify/check.js";
import type { CheckDocument } from "../verify/documents.js";
import type { LogitErrorInput } from "../verify/logit-error.js";
import { readMask, readPositions, readSeeds, readTemperatures, readTokens } from "./check-files.js";
import { checkHead, drawsFromHead, scalesLocation } from "./draw.js";
import { interruptible } from "./exit.js";
import { ofRow, type DrawInputs, type PerRowNumber } from "./options.js";
import { loadProgress } from "./progress.js";
import { readMatrix, type FloatMatrix } from "./read.js";

type Inputs = Pick<DrawInputs, "weights" | "tensor" | "scales" | "hidden" | "logits" | "seed" | "temperature" | "position" | "sequence">;

export interface CheckInputs extends Inputs {
  readonly tokens?: string;
  readonly numSamples?: number;
  readonly seeds?: string;
  readonly temperatures?: string;
  readonly positions?: string;
  readonly sequences?: string;
  readonly vocabSize?: number;
  readonly mask?: string;
  readonly engine: string;
  readonly engineOption?: readonly string[];
  readonly logitError?: LogitErrorInput;
  readonly ranks: number;
  readonly backend: BackendName | "auto";
}

/** command: tells options that were given from defaults. */
export async function checkFiles(inputs: CheckInputs, command: Command): Promise<CheckDocument> {
  const hasHead = drawsFromHead(inputs);
  const matrix = await readMatrix(inputs.hidden ?? inputs.logits!);
  const progress = loadProgress("weights");
  return interruptible(async (signal) => {
    try {
      const asked = await askedOf(inputs, command, matrix);
      if (!hasHead) {
        checkVocabSize(inputs, matrix.columns);
        return await check({ ...asked, logits: matrix.values, vocabSize: matrix.columns, signal });
      }
      const source = await openSource(inputs.weights!, signal);
      try {
        return await checkOnHead({ ...asked, signal, onProgress: progress.update }, source, inputs, matrix, signal);
      } finally {
        await source.close();
      }
    } finally {
      progress.stop();
    }
  });
}

async function checkOnHead(asked: CheckOptions, source: ByteSource, inputs: CheckInputs, matrix: FloatMatrix, signal: AbortSignal): Promise<CheckDocument> {
  await checkHead(source, inputs, matrix, (_, vocabSize) => checkVocabSize(inputs, vocabSize), signal);
  return check({ ...asked, weights: source, tensor: inputs.tensor, scales: scalesLocation(inputs.scales), hiddenStates: matrix.values });
}

function checkVocabSize({ vocabSize }: CheckInputs, columns: number): void {
  if (vocabSize !== undefined && vocabSize > columns) throw new RangeError(`"--vocab-size" expected at most V = ${columns}, got ${vocabSize}`);
}

/** All that is asked of the library but for the logits. */
async function askedOf(inputs: CheckInputs, command: Command, { rowCount }: FloatMatrix): Promise<CheckOptions> {
  const { seeds, temperatures, positions, sequences, mask } = inputs;
  const { tokens, numSamples } = await readTokens(inputs.tokens!, rowCount, inputs.numSamples);
  const sequence = sequences === undefined ? sequenceOf(inputs, command, rowCount) : await readPositions("--sequences", sequences, rowCount);
  return {
    tokens,
    numSamples,
    seed: seeds === undefined ? inputs.seed! : await readSeeds(seeds, rowCount),
    temperature: temperatures === undefined ? inputs.temperature : await readTemperatures(temperatures, rowCount),
    position: positions === undefined ? perRow(inputs.position, rowCount) : await readPositions("--positions", positions, rowCount),
    ...(sequence !== undefined && { sequence }),
    mask: mask === undefined ? undefined : await readMask(mask),
    unpaddedSize: inputs.vocabSize,
    logitError: inputs.logitError,
    engine: inputs.engine,
    engineOptions: inputs.engineOption,
    ranks: inputs.ranks,
    backend: inputs.backend,
  };
}

/** Unless it is given, it is what the library takes: the row's index with one seed, 0 with a seed a row. */
function sequenceOf({ sequence }: CheckInputs, command: Command, rowCount: number): number[] | undefined {
  return isGiven(command, "sequence") ? perRow(sequence, rowCount) : undefined;
}

/** By whoever asks, and not by default. */
export function isGiven(command: Command, option: string): boolean {
  return command.getOptionValueSource(option) === "cli";
}

const perRow = (value: PerRowNumber, rowCount: number): number[] => Array.from({ length: rowCount }, (_, row) => ofRow(value, row));
