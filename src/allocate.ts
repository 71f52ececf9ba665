/** Large allocations, whose failure is the caller's to hear of: engines word it as an invalid length. */

/** @throws RangeError that names what for */
export function allocate<T>(make: () => T, what: string): T {
  try {
    return make();
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new RangeError(`"memory" expected room for ${what}, got none: ${cause.message}`, { cause });
  }
}
