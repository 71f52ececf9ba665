/** How a run ends: its exit code, its one line on stderr, and what Ctrl-C and a closed pipe do. */
import { constants } from "node:os";
import { CommanderError, type Command } from "commander";
import { describe, visible } from "../describe.js";
import { InvalidRowError } from "../outcome.js";
import { withOption } from "./labels.js";
import { usageMessage } from "./usage.js";

/** The command was understood and ran; the answer is no. */
export const EXIT_WRONG = 1;
/** Arguments or files that cannot be used. */
export const EXIT_MISUSE = 2;
/** What shells report for a program that Ctrl-C ended: 128 + SIGINT. */
export const EXIT_INTERRUPTED = 130;

/** A "no" that is no fault of the arguments: a backend that does not run here. */
export class WrongOutcome extends Error {}

/** Sets the exit code for what a verb threw, and says it in one line. Never throws, never prints a stack. command: the verb's */
export function reportFailure(error: unknown, command?: Command): void {
  const code = exitCode(error);
  process.exitCode = code;
  // commander has printed help, version or nothing by now; only its errors still have to be said.
  if (error instanceof CommanderError && (code === 0 || error.code === "commander.help")) return;
  say(code === EXIT_INTERRUPTED ? "interrupted" : toMessage(error, command));
}

function say(message: string): void {
  process.stderr.write(`flash-sampling: ${toLine(message)}\n`);
}

function exitCode(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_MISUSE;
  if (error instanceof WrongOutcome || error instanceof InvalidRowError) return EXIT_WRONG;
  if (!(error instanceof Error)) return EXIT_WRONG;
  if (error.name === "AbortError") return EXIT_INTERRUPTED;
  // Everything this package refuses is worded `"label" expected ..., got ...`. Anything else is a fault of ours or the machine's.
  return error.message.startsWith('"') ? EXIT_MISUSE : EXIT_WRONG;
}

function toMessage(error: unknown, command: Command | undefined): string {
  if (error instanceof CommanderError) return usageMessage(error, command);
  const message = error instanceof Error ? error.message : describe(error);
  return command === undefined ? message : withOption(message, command);
}

/** Characters of a message: an error must not scroll away what came before it. */
const LINE_LIMIT = 500;

/** Names of files and tensors are part of messages, and anybody's: one line that only shows, and moves nothing on a terminal. */
export function toLine(message: string): string {
  const characters = Array.from(visible(message.slice(0, 2 * LINE_LIMIT + 2)));
  return characters.length > LINE_LIMIT ? `${characters.slice(0, LINE_LIMIT - 3).join("")}...` : characters.join("");
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

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;
/** What is to be cleaned up when a signal ends the process; the last that came goes first. */
const cleanUps: (() => void)[] = [];

/** Runs work that leaves something behind when it is cut off: a signal then cleans up, at once, and ends the process. */
export async function cleanedUp<Result>(cleanUp: () => void, work: () => Promise<Result>): Promise<Result> {
  const release = atSignal(cleanUp);
  try {
    return await work();
  } finally {
    release();
  }
}

/** The same for what has no work of its own. @returns what takes it back */
export function atSignal(cleanUp: () => void): () => void {
  if (cleanUps.length === 0) for (const signal of ENDING_SIGNALS) process.once(signal, endBySignal);
  cleanUps.push(cleanUp);
  return () => {
    const at = cleanUps.indexOf(cleanUp);
    if (at >= 0) cleanUps.splice(at, 1);
    if (cleanUps.length === 0) for (const signal of ENDING_SIGNALS) process.removeListener(signal, endBySignal);
  };
}

function endBySignal(signal: NodeJS.Signals): void {
  for (const cleanUp of cleanUps.splice(0).reverse()) {
    try {
      cleanUp();
    } catch {
      // Whatever cannot be removed, the others still can, and the process ends all the same.
    }
  }
  for (const other of ENDING_SIGNALS) process.removeListener(other, endBySignal);
  say("interrupted");
  process.exit(128 + constants.signals[signal]);
}

/**
 * A reader of stdout that has seen enough (`| head -1`) is no error; a full disk behind it is one. A stderr that nobody reads, or that is
 * full, takes nothing from the result.
 */
export function endQuietlyOnClosedPipe(): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") reportFailure(new Error(`"stdout" expected a place to write, got ${error.code ?? error.message}`, { cause: error }));
    process.exit();
  });
  process.stderr.on("error", () => {});
}
