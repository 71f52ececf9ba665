/** What sample and oracle do alike: read the inputs, load the head, draw. */
import { checkDrawCount } from "../arguments.js";
import type { Dtype } from "../backend.js";
import { createBackend, type BackendName } from "../backends/list.js";
import { createReferenceBackend } from "../backends/reference.js";
import { readHead } from "../head/head-reader.js";
import type { ScalesLocation } from "../head/scales.js";
import { openSource, type ByteSource } from "../head/source.js";
import { sampleLogits } from "../logits.js";
import type { SampleResult } from "../outcome.js";
import { createSampler, createSamplerOn } from "../sampler.js";
import { SPEC_VERSION } from "../spec/constants.js";
import type { LogitOf } from "../spec/logit.js";
import { VERSION } from "../version.js";
import { interruptible, WrongOutcome } from "./exit.js";
import { ofRow, type DrawInputs } from "./options.js";
import { loadProgress } from "./progress.js";
import { readMatrix, type FloatMatrix } from "./read.js";

/** dtype: null for given logits. @throws RangeError to refuse */
export type CheckShape = (rowCount: number, vocabSize: number, dtype: Dtype | null) => void;

export interface Drawn {
  readonly backend: BackendName;
  /** null for given logits, as is all that only a head has */
  readonly dtype: Dtype | null;
  readonly headDigest: string | null;
  readonly vocabSize: number;
  readonly hiddenSize: number | null;
  readonly seed: bigint;
  /** hidden states or logits */
  readonly matrix: FloatMatrix;
  readonly result: SampleResult;
}

/**
 * @throws TypeError, RangeError, Error for inputs that cannot be used; WrongOutcome when the backend does not run here;
 * InvalidRowError for a row without a token, unless such rows are to be marked
 * checkShape: called once the sizes are known and nothing long has begun
 * logitOf: with "reference" alone, another arithmetic than the rule's for the logits of a head
 */
export async function draw(inputs: DrawInputs, backend: BackendName | "auto", details: boolean, checkShape: CheckShape = () => {}, logitOf?: LogitOf): Promise<Drawn> {
  const { weights, hidden, logits } = inputs;
  const hasHead = drawsFromHead(inputs);
  const name = await requireBackend(backend);
  const matrix = await readMatrix(hidden ?? logits!);
  checkDrawCount(matrix.rowCount, inputs.numSamples, details);
  const drawn = hasHead ? await drawFromHead(inputs, weights!, matrix, name, details, checkShape, logitOf) : await drawFromLogits(inputs, matrix, name, details, checkShape);
  if (inputs.seed === undefined) process.stderr.write(`seed ${drawn.seed}\n`);
  return drawn;
}

/**
 * Whether a head is drawn from, or logits.
 * @throws TypeError for neither, or both
 */
export function drawsFromHead(inputs: Pick<DrawInputs, "weights" | "hidden" | "logits" | "tensor" | "scales">): boolean {
  const { weights, hidden, logits } = inputs;
  const hasHead = weights !== undefined && hidden !== undefined && logits === undefined;
  const hasLogits = weights === undefined && hidden === undefined && logits !== undefined;
  if (!hasHead && !hasLogits) {
    const given = (["weights", "hidden", "logits"] as const).filter((name) => inputs[name] !== undefined).map((name) => `--${name}`);
    throw new TypeError(`"--weights" expected a head, and --hidden beside it (or --logits alone in their place), got ${given.join(" and ") || "none"}`);
  }
  if (hasLogits && (inputs.tensor ?? inputs.scales) !== undefined) {
    throw new TypeError(`"${inputs.tensor === undefined ? "--scales" : "--tensor"}" expected --weights beside it, got --logits`);
  }
  return hasHead;
}

/** The part of a JSON document that says what was drawn, and how to draw it again. */
export function describeDraw(inputs: DrawInputs, drawn: Drawn): Record<string, unknown> {
  return {
    specVersion: SPEC_VERSION,
    version: VERSION,
    headDigest: drawn.headDigest,
    backend: drawn.backend,
    dtype: drawn.dtype,
    V: drawn.vocabSize,
    D: drawn.hiddenSize,
    // A 64-bit number does not survive as a JSON number.
    seed: String(drawn.seed),
    temperature: inputs.temperature,
    position: inputs.position,
    sequence: inputs.sequence,
    numSamples: inputs.numSamples,
  };
}

/** The file of --scales, or the name of a tensor beside the weights: told apart by how the text ends or begins. */
export function scalesLocation(scales: string | undefined): ScalesLocation | undefined {
  if (scales === undefined) return undefined;
  return /\.(npy|safetensors)$|^https?:/i.test(scales) ? { source: scales } : scales;
}

async function drawFromHead(inputs: DrawInputs, weights: string, matrix: FloatMatrix, backend: BackendName, details: boolean, checkShape: CheckShape, logitOf?: LogitOf): Promise<Drawn> {
  const progress = loadProgress("weights");
  const sampler = await interruptible(async (signal) => {
    const source = await openSource(weights, signal);
    try {
      await checkHead(source, inputs, matrix, checkShape, signal);
      const options = { weights: source, signal, onProgress: progress.update, tensor: inputs.tensor, scales: scalesLocation(inputs.scales) };
      return await (logitOf === undefined ? createSampler({ ...options, backend }) : createSamplerOn(async () => createReferenceBackend(logitOf), options));
    } finally {
      progress.stop();
      await source.close();
    }
  });
  try {
    const { dtype, headDigest, vocabSize, hiddenSize } = sampler;
    const result = await sampler.sample({ hiddenStates: matrix.values, ...drawOptions(inputs, matrix.rowCount, details) });
    return { backend, dtype, headDigest, vocabSize, hiddenSize, seed: result.seed as bigint, matrix, result };
  } finally {
    sampler.dispose();
  }
}

/** Hidden states that do not fit are found by a look at the head's header, not after gigabytes of its weights. */
export async function checkHead(source: ByteSource, inputs: Pick<DrawInputs, "tensor" | "scales">, matrix: FloatMatrix, checkShape: CheckShape, signal: AbortSignal): Promise<void> {
  const reader = await readHead(source, inputs.tensor, scalesLocation(inputs.scales), signal);
  const { dtype, vocabSize, hiddenSize } = reader.shape;
  await reader.close();
  if (matrix.columns !== hiddenSize) {
    throw new RangeError(`"${matrix.name}" expected D = ${hiddenSize} columns, as the head has, got shape [${matrix.rowCount}, ${matrix.columns}]`);
  }
  checkShape(matrix.rowCount, vocabSize, dtype);
}

async function drawFromLogits(inputs: DrawInputs, matrix: FloatMatrix, backend: BackendName, details: boolean, checkShape: CheckShape): Promise<Drawn> {
  const vocabSize = matrix.columns;
  checkShape(matrix.rowCount, vocabSize, null);
  const result = await sampleLogits({ logits: matrix.values, vocabSize, backend, ...drawOptions(inputs, matrix.rowCount, details) });
  return { backend, dtype: null, headDigest: null, vocabSize, hiddenSize: null, seed: result.seed as bigint, matrix, result };
}

function drawOptions({ seed, temperature, position, sequence, numSamples, onInvalid }: DrawInputs, rowCount: number, details: boolean) {
  const rows = Array.from({ length: rowCount }, (_, row) => row);
  return {
    temperature,
    position: rows.map((row) => ofRow(position, row)),
    sequence: rows.map((row) => ofRow(sequence, row)),
    numSamples,
    onInvalid,
    details,
    ...(seed !== undefined && { seed }),
  };
}

/** The backend that will run. That a known one does not run here is an outcome, no misuse. */
export async function requireBackend(name: BackendName | "auto"): Promise<BackendName> {
  try {
    const backend = await createBackend(name);
    backend.dispose();
    return backend.name as BackendName;
  } catch (error) {
    throw new WrongOutcome((error as Error).message, { cause: error });
  }
}
