/** What can go wrong on a CUDA device, by its kind. */
export type CudaErrorKind = "out-of-memory" | "failed";

export class CudaError extends Error {
  override readonly name = "CudaError";
  readonly kind: CudaErrorKind;

  constructor(kind: CudaErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
