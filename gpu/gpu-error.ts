/** What a GPU device can do wrong, as one kind of error. */

/**
 * - "lost": the device is gone; a new sampler gets a new one
 * - "out-of-memory": the device has no room for what was asked
 * - "refused": the device or its driver refuses a shader or a command
 * - "wrong-bits": the device does not compute what docs/spec.md says, so nothing is sampled on it
 */
export type GpuErrorKind = "lost" | "out-of-memory" | "refused" | "wrong-bits";

export class GpuError extends Error {
  /** Consoles print the name of the class, which minifiers shorten. */
  static override readonly name = "GpuError";
  override readonly name = "GpuError";
  readonly kind: GpuErrorKind;

  constructor(kind: GpuErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
