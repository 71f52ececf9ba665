/** A head in a device's memory: pieces of the vocabulary, each in one buffer, and the calls that sample from them. */
import {
  type BackendHead,
  type Batch,
  type BufferSlice,
  type Candidates,
  type DeviceBatch,
  type DeviceDecisions,
  type DeviceHead,
  type HeadShape,
  type HeadSink,
  type RowBlock,
} from "../../src/backend.js";
import { decodeRequest } from "../../src/spec/request.js";
import { withCallerBuffers } from "./caller-buffers.js";
import type { GpuContext } from "./context.js";
import type { Decider, Decisions, RowSource, SweepPlan } from "./decider.js";
import { COPY_DST, STORAGE, UNIFORM } from "./flags.js";
import { GpuError } from "../gpu-error.js";
import { copyWeights } from "./head-copier.js";
import { problemsOf, reportsOf } from "../hidden-on-device.js";
import { preparerOf } from "./hidden-preparer.js";
import { gridWidth } from "./kernel.js";
import { arrangeHidden, layOutHead, type HeadLayout } from "../layout.js";
import { RowStaging } from "../row-staging.js";
import { sampleTileShader, type TileShape } from "./shaders.js";
import { divisionFor, divisionOf, tileTokens } from "./tuning.js";

/** Pieces begin at a multiple of it where they are that large: no tile lies in two. */
const PIECE_ALIGNMENT = 1024;
/** Tokens that share a call of Philox: none of them lies in two pieces. */
const NOISE_TOKENS = 4;
/** Bytes of weights on their way before the loader waits for the device. */
const UPLOAD_BYTES = 64 << 20;
/** Bytes of weights staged at a time. */
const STAGING_BYTES = 4 << 20;

/** Of rows that are checked before they come here. */
const NO_REPORTS = new Uint32Array(0);

interface Piece {
  readonly firstToken: number;
  readonly rows: number;
  readonly weights: GPUBuffer;
  /** f32 bits [rows, groups]; without scales a few bytes that nothing reads */
  readonly scales: GPUBuffer;
}

/** Rows of a piece: all, or as many as a binding may hold. */
function pieceRows(shape: HeadShape, { rowBytes, groups }: HeadLayout, { limits }: GPUDevice): number {
  const bytes = Math.max(rowBytes, groups * 4);
  const rows = Math.floor(Math.min(limits.maxStorageBufferBindingSize, limits.maxBufferSize) / bytes);
  if (rows >= shape.vocabSize) return shape.vocabSize;
  const alignment = rows >= PIECE_ALIGNMENT ? PIECE_ALIGNMENT : NOISE_TOKENS;
  const aligned = Math.floor(rows / alignment) * alignment;
  if (aligned > 0) return aligned;
  throw new RangeError(`"weights" expected ${NOISE_TOKENS} rows in ${limits.maxStorageBufferBindingSize} bytes, the device's largest binding, got rows of ${bytes} bytes`);
}

/** Makes the buffers of a head's pieces. */
async function createPieces(context: GpuContext, shape: HeadShape, layout: HeadLayout, scales: Float32Array | null): Promise<Piece[]> {
  const { device } = context;
  const { groups, rowBytes } = layout;
  const perPiece = pieceRows(shape, layout, device);
  const pieces: Piece[] = [];
  try {
    for (let firstToken = 0; firstToken < shape.vocabSize; firstToken += perPiece) {
      const rows = Math.min(perPiece, shape.vocabSize - firstToken);
      const usage = STORAGE | COPY_DST;
      const size = rows * rowBytes;
      await context.checked(`${size} bytes of weights`, () => {
        const weights = device.createBuffer({ label: "weights", size, usage });
        pieces.push({ firstToken, rows, weights, scales: device.createBuffer({ label: "scales", size: scales === null ? 4 : rows * groups * 4, usage }) });
        if (scales !== null) device.queue.writeBuffer(pieces.at(-1)!.scales, 0, scales.slice(firstToken * groups, (firstToken + rows) * groups));
      });
    }
  } catch (error) {
    destroyPieces(pieces);
    throw error;
  }
  return pieces;
}

/** Makes the buffers of a head and returns what takes its rows. */
export async function createHeadSink(context: GpuContext, decider: Decider, shape: HeadShape, scales: Float32Array | null, opaqueSums: boolean): Promise<HeadSink> {
  const layout = layOutHead(shape);
  return new WebgpuSink(context, decider, shape, layout, await createPieces(context, shape, layout, scales), opaqueSums);
}

/** A head from weights that are on the device: see Backend.copyHead. */
export async function copyHead(context: GpuContext, decider: Decider, { shape, scales, weights }: DeviceHead, opaqueSums: boolean, onRows: (rows: number) => void): Promise<{ head: BackendHead; largestMagnitude: number }> {
  const layout = layOutHead(shape);
  const pieces = await createPieces(context, shape, layout, scales);
  try {
    const largestMagnitude = await withCallerBuffers(context, { weights: weights.buffer }, () => copyWeights(context, decider.readBack, shape, layout, pieces, weights, onRows));
    return { head: new WebgpuHead(context, decider, shape, layout, pieces, opaqueSums), largestMagnitude };
  } catch (error) {
    destroyPieces(pieces);
    throw error;
  }
}

function destroyPieces(pieces: readonly Piece[]): void {
  for (const { weights, scales } of pieces) {
    weights.destroy();
    scales.destroy();
  }
}

class WebgpuSink implements HeadSink {
  #context: GpuContext;
  #decider: Decider;
  #shape: HeadShape;
  #layout: HeadLayout;
  #pieces: Piece[];
  #perPiece: number;
  #opaqueSums: boolean;
  #staging: RowStaging;
  #uploading = 0;

  constructor(context: GpuContext, decider: Decider, shape: HeadShape, layout: HeadLayout, pieces: Piece[], opaqueSums: boolean) {
    this.#context = context;
    this.#decider = decider;
    this.#shape = shape;
    this.#layout = layout;
    this.#pieces = pieces;
    this.#perPiece = pieces[0]!.rows;
    this.#opaqueSums = opaqueSums;
    this.#staging = new RowStaging(shape, layout, STAGING_BYTES);
  }

  reserve(firstRow: number, rowCount: number): RowBlock {
    return this.#staging.reserve(firstRow, Math.min(rowCount, this.#perPiece - (firstRow % this.#perPiece)));
  }

  async commit(block: RowBlock): Promise<void> {
    const arranged = this.#staging.arrange(block);
    this.#context.assertInUse();
    const piece = this.#pieces[Math.floor(block.firstRow / this.#perPiece)]!;
    const { queue } = this.#context.device;
    queue.writeBuffer(piece.weights, (block.firstRow - piece.firstToken) * this.#layout.rowBytes, arranged);
    this.#uploading += arranged.length;
    if (this.#uploading < UPLOAD_BYTES) return;
    this.#uploading = 0;
    await this.#context.settle(queue.onSubmittedWorkDone());
  }

  finish(): BackendHead {
    this.#staging.drop();
    return new WebgpuHead(this.#context, this.#decider, this.#shape, this.#layout, this.#pieces, this.#opaqueSums);
  }

  abort(): void {
    destroyPieces(this.#pieces);
    this.#staging.drop();
  }
}

class WebgpuHead implements BackendHead {
  #context: GpuContext;
  #decider: Decider;
  #shape: HeadShape;
  #layout: HeadLayout;
  #pieces: Piece[] | null;
  #opaqueSums: boolean;
  /** One for each division of the work that was used. */
  #plans = new Map<ReturnType<typeof divisionFor>, Promise<SweepPlan>>();
  #uniforms: GPUBuffer[] = [];

  constructor(context: GpuContext, decider: Decider, shape: HeadShape, layout: HeadLayout, pieces: Piece[], opaqueSums: boolean) {
    this.#context = context;
    this.#decider = decider;
    this.#shape = shape;
    this.#layout = layout;
    this.#pieces = pieces;
    this.#opaqueSums = opaqueSums;
  }

  async sample({ hiddenStates, request }: Batch): Promise<Candidates> {
    const source = { kind: "memory", values: hiddenStates, reports: NO_REPORTS, ...this.#hiddenOrder } as const;
    const { candidates } = await this.#decide(source, request, null);
    return candidates!;
  }

  async sampleOnDevice({ hiddenStates, request, largestMagnitude, tokensTo }: DeviceBatch): Promise<DeviceDecisions> {
    const buffers = { ...("buffer" in hiddenStates && { hiddenStates: hiddenStates.buffer }), ...(tokensTo !== null && { tokensTo: tokensTo.buffer }) };
    return withCallerBuffers(this.#context, buffers, async () => {
      const { candidates, reports } = await this.#decide(await this.#rowSource(hiddenStates, largestMagnitude), request, tokensTo);
      return { candidates, invalidRow: problemsOf(reports) };
    });
  }

  async #rowSource(hiddenStates: DeviceBatch["hiddenStates"], largestMagnitude: number): Promise<RowSource> {
    if ("buffer" in hiddenStates) return preparerOf(this.#context).open(hiddenStates, this.#shape, this.#layout.hiddenSize, largestMagnitude);
    const { values, isRefused } = hiddenStates;
    return { kind: "memory", values, reports: reportsOf(isRefused), ...this.#hiddenOrder };
  }

  async #decide(source: RowSource, request: Uint32Array, tokensTo: BufferSlice | null): Promise<Decisions> {
    this.#piecesInUse();
    const { rows } = decodeRequest(request);
    return this.#decider.decide(await this.#planFor(rows.length), source, request, tokensTo);
  }

  dispose(): void {
    if (this.#pieces !== null) destroyPieces(this.#pieces);
    for (const buffer of this.#uniforms) buffer.destroy();
    this.#pieces = null;
  }

  #piecesInUse(): readonly Piece[] {
    if (this.#pieces === null) throw new Error('"sampler" expected to be in use, got one that was disposed');
    return this.#pieces;
  }

  /** How rows from memory come into the order of the buffer. */
  get #hiddenOrder(): Pick<RowSource & { kind: "memory" }, "rowValues" | "arrange"> {
    const { hiddenSize } = this.#layout;
    return { rowValues: hiddenSize, arrange: (rows, rowCount, batch, arranged) => arrangeHidden(rows, rowCount, hiddenSize, batch, arranged) };
  }

  /** The plan for so many rows, or where its kernel needs more than the device has, one for fewer. */
  async #planFor(rows: number): Promise<SweepPlan> {
    let refusal: unknown;
    for (let served = rows; served >= 1; served = Math.floor(served / 2)) {
      try {
        return await this.#planOf(divisionFor(served, this.#context.isSoftware));
      } catch (error) {
        if (!(error instanceof GpuError && error.kind === "refused")) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  #planOf(division: ReturnType<typeof divisionFor>): Promise<SweepPlan> {
    let plan = this.#plans.get(division);
    if (plan === undefined) {
      plan = this.#plan({ ...divisionOf(this.#shape.dtype, division), opaqueSums: this.#opaqueSums });
      this.#plans.set(division, plan);
      plan.catch(() => this.#plans.delete(division));
    }
    return plan;
  }

  async #plan(shape: TileShape): Promise<SweepPlan> {
    const { device } = this.#context;
    const { isNarrow, units, groups } = this.#layout;
    const code = sampleTileShader(this.#shape.dtype, isNarrow, shape);
    const layouts = [this.#decider.sourceLayout, this.#decider.sweepLayout];
    const pipeline = await this.#context.pipeline(`sampleTile ${this.#shape.dtype}`, code, "sampleTile", layouts);
    const tokens = tileTokens(shape);
    let firstTile = 0;
    const sources = await this.#context.checked("the layout of a head", () =>
      this.#piecesInUse().map(({ firstToken, rows, weights, scales }) => {
        const tiles = Math.ceil(rows / tokens);
        const width = gridWidth(tiles, device.limits);
        const uniform = device.createBuffer({ label: "piece", size: 32, usage: UNIFORM | COPY_DST });
        this.#uniforms.push(uniform);
        device.queue.writeBuffer(uniform, 0, Uint32Array.of(0, rows, firstToken, firstTile, units, groups, units / groups, width));
        firstTile += tiles;
        const entries = [uniform, weights, scales].map((buffer, binding) => ({ binding, resource: { buffer } }));
        return { bindGroup: device.createBindGroup({ layout: this.#decider.sourceLayout, entries }), grid: [width, Math.ceil(tiles / width)] as const };
      }),
    );
    return { pipeline, sources, tiles: firstTile, rowsAWorkgroup: shape.batch, assertInUse: () => void this.#piecesInUse() };
  }
}
