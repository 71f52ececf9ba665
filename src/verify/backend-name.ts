/** The names of backends, as arguments. */
import { BACKENDS, type BackendName } from "../backends/list.js";
import { describe } from "../describe.js";
import { checkText } from "./values.js";

const BACKEND_NAMES: readonly string[] = ["auto", ...BACKENDS.map(({ name }) => name)];

/** @throws TypeError, RangeError for what is no name of a backend, nor "auto" */
export function checkBackend(backend: unknown): asserts backend is BackendName | "auto" {
  checkText("backend", backend);
  if (!BACKEND_NAMES.includes(backend)) throw new RangeError(`"backend" expected ${BACKEND_NAMES.join(", ")}, got ${describe(backend)}`);
}
