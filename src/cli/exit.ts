/** How a run ends: its exit code, its one line on stderr, and what Ctrl-C and a closed pipe do. */
import { CommanderError } from "commander";
import { InvalidRowError } from "../outcome.js";

/** The command was understood and ran; the answer is no. */
export const EXIT_WRONG = 1;
/** Arguments or files that cannot be used. */
export const EXIT_MISUSE = 2;
/** What shells report for a program that Ctrl-C ended: 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130;

/** A "no" that is no fault of the arguments: a backend that does not run here. */
export class WrongOutcome extends Error {}

/** Sets the exit code for what a verb threw, and says it in one line. Never throws, never prints a stack. */
export function reportFailure(error: unknown): void {
  const code = exitCode(error);
  process.exitCode = code;
  // commander has printed help, version or nothing by now; only its errors still have to be said.
  if (error instanceof CommanderError && (code === 0 || error.code === "commander.help")) return;
  process.stderr.write(`flash-sampling: ${code === EXIT_INTERRUPTED ? "interrupted" : oneLine(error)}\n`);
}

function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSE;
  if (error instanceof WrongOutcome || error instanceof InvalidRowError) return EXIT_WRONG;
  if (!(error instanceof Error)) return EXIT_WRONG;
  if (error.name === "AbortError") return EXIT_INTERRUPTED;
  // Everything this package refuses is worded `"label" expected ..., got ...`. Anything else is a fault of ours or the machine's.
  return error.message.startsWith('"') ? EXIT_MISUSE : EXIT_WRONG;
}

function oneLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
}

/** Runs work that listens to a signal: Ctrl-C aborts it. Before and after, Ctrl-C ends the process as usual. */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  process.once("SIGINT", abort);
  try {
    return await work(controller.signal);
  } finally {
    process.removeListener("SIGINT", abort);
  }
}

/** A reader that has seen enough (`| head -1`) is no error. */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") reportFailure(error);
    process.exit();
  });
  process.stderr.on("error", () => process.exit());
}
