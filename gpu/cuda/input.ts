/** What a call brings to the device: its request, its rows in the order in which the kernels read them, and a report of each row. */
import { HEADER_ROWS } from "../../src/spec/request.js";
import type { FloatDtype } from "../../src/matrix.js";
import { FORMATS, REPORT_WORDS, reportsOf } from "../hidden-on-device.js";
import { arrangeHidden } from "../layout.js";
import type { CudaDriver } from "./driver.js";
import { DeviceMemory, StagingMemory } from "./memory.js";
import { structOf } from "./structs.js";

const ALIGNMENT = 256;
/** As pointers.cuh has it. */
const ROUND_THREADS = 1024;

/** Rows as they were given. */
export type GivenRows =
  | {
      /** [rows, any number of columns], as the kernels' operands */
      readonly values: Float32Array;
      /** For each row, or none where nobody asks. */
      readonly isRefused: readonly boolean[];
    }
  | {
      /** [rows, columns] on the device */
      readonly pointer: bigint;
      readonly dtype: FloatDtype;
      readonly columns: number;
      /** What they are rounded to. */
      readonly operand: FloatDtype;
      /** The largest biased exponent of a row's largest magnitude: see hiddenExponentLimit. */
      readonly exponentLimit: number;
    };

/** How kernels read rows: `batch` side by side, each with so many columns, zeros past its own. */
export interface RowOrder {
  readonly batch: number;
  readonly columns: number;
}

/** Where a call's input lies on the device. */
export interface Input {
  readonly request: bigint;
  /** f32 */
  readonly values: bigint;
  /** [rows, REPORT_WORDS] */
  readonly reports: bigint;
}

export class InputMemory {
  readonly #driver: CudaDriver;
  readonly #staging: StagingMemory;
  readonly #uploaded: DeviceMemory;
  readonly #rounded: DeviceMemory;
  readonly #reports: DeviceMemory;

  constructor(driver: CudaDriver) {
    this.#driver = driver;
    this.#staging = new StagingMemory(driver);
    this.#uploaded = new DeviceMemory(driver, "a call");
    this.#rounded = new DeviceMemory(driver, "hidden states");
    this.#reports = new DeviceMemory(driver, "reports");
  }

  /**
   * Asks for all of it to be brought. What an earlier call asked for must be done: it shares the memory.
   * @param stream whose work comes first, if any
   */
  bring(given: GivenRows, order: RowOrder, request: Uint32Array, stream: bigint | null): Input {
    const rows = request[HEADER_ROWS]!;
    const fromMemory = "values" in given ? [reportsOf(given.isRefused), arranged(given.values, rows, order)] : [];
    const [requestAt, reportsAt, valuesAt] = this.#upload([request, ...fromMemory]) as [bigint, bigint, bigint];
    if (stream !== null) this.#driver.waitFor(stream);
    if ("values" in given) return { request: requestAt, reports: reportsAt, values: valuesAt };
    const blockRows = Math.ceil(rows / order.batch) * order.batch;
    const values = this.#rounded.reserve(blockRows * order.columns * 4);
    const reports = this.#reports.reserve(rows * REPORT_WORDS * 4);
    const rounding = structOf([given.pointer, values, reports], [rows, given.columns, order.columns, order.batch, FORMATS[given.operand], given.exponentLimit]);
    this.#driver.launch(`round_${given.dtype}`, { grid: [blockRows, 1], threads: ROUND_THREADS, parameters: [rounding] });
    return { request: requestAt, values, reports };
  }

  /** One transfer. Returns where each array begins. */
  #upload(arrays: readonly (Uint32Array | Float32Array)[]): bigint[] {
    let bytes = 0;
    const offsets = arrays.map(({ byteLength }) => {
      const offset = bytes;
      bytes += Math.ceil(byteLength / ALIGNMENT) * ALIGNMENT;
      return offset;
    });
    const target = this.#uploaded.reserve(bytes);
    const staging = this.#staging.reserve(bytes);
    const staged = new Uint8Array(staging.bytes);
    arrays.forEach(({ buffer, byteOffset, byteLength }, index) => staged.set(new Uint8Array(buffer, byteOffset, byteLength), offsets[index]!));
    this.#driver.uploadPinned(target, staging, bytes);
    return offsets.map((offset) => target + BigInt(offset));
  }
}

function arranged(values: Float32Array, rows: number, { batch, columns }: RowOrder): Float32Array {
  if (batch === 1 && values.length === rows * columns) return values;
  const target = new Float32Array(Math.ceil(rows / batch) * batch * columns);
  arrangeHidden(values, rows, columns, batch, target);
  return target;
}
