/** A command as a child process: started in a group of its own, ended with all that it started, and what it said last. */
import { spawn, spawnSync, type ChildProcess, type StdioOptions } from "node:child_process";
import type { Readable } from "node:stream";
import { describe } from "../../describe.js";

/** Characters of stderr that are kept: for the last line of a traceback. */
const KEPT = 4000;
/** Characters of what a child says that a message shows. */
const SHOWN = 300;
/** Milliseconds that last words may take after a bad end, when something that left the group holds the pipes. */
const LINGER = 500;
const isWindows = process.platform === "win32";

/**
 * What is spoken with a child. once: nothing. server: lines on stdin and stdout. host: messages of Node, and what it prints comes out on
 * our stderr.
 */
export type ChildKind = "once" | "server" | "host";

const STDIO: Readonly<Record<ChildKind, StdioOptions>> = {
  once: ["ignore", "ignore", "pipe"],
  server: ["pipe", "pipe", "pipe"],
  host: ["ignore", "pipe", "pipe", "ipc"],
};

export interface Child {
  readonly process: ChildProcess;
  /** Resolves when it has ended: how, in words; null for exit code 0. Never rejects. Its pipes are closed then, whoever else holds them. */
  readonly ended: Promise<string | null>;
  /** The last line of stderr, in brackets; empty when there is none. */
  lastWords(): string;
  /** Ends it and its children at once. */
  kill(): void;
}

/** @throws RangeError for what cannot be tried to start */
export function startChild(command: readonly string[], kind: ChildKind): Child {
  const [program, ...args] = command as [string, ...string[]];
  const child = started(program, () => spawn(program, args, { stdio: STDIO[kind], serialization: "advanced", detached: !isWindows, windowsHide: true }));
  let said = "";
  if (kind === "host") for (const output of [child.stdout!, child.stderr!]) output.on("data", (bytes: Uint8Array) => process.stderr.write(bytes));
  else child.stderr!.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-KEPT)));
  const kill = () => killGroup(child);
  const ended = new Promise<string | null>((resolve) => {
    const end = (outcome: string | null) => {
      for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe?.destroy();
      resolve(outcome);
    };
    child.on("error", (error: NodeJS.ErrnoException) => end(`a program that does not start: ${describe(program)} (${error.code})`));
    child.on("exit", (code, signal) => {
      kill();
      if (code === 0 && kind === "once") return end(null);
      const outcome = code === 0 ? null : code === null ? `its end by ${signal}` : `exit code ${code}`;
      const linger = setTimeout(end, LINGER, outcome);
      void Promise.all([child.stdout, child.stderr].map(closed)).then(() => {
        clearTimeout(linger);
        end(outcome);
      });
    });
  });
  const lastWords = () => {
    const line = said.trimEnd().split("\n").at(-1)!.trim();
    return line === "" ? "" : ` (${shortened(line)})`;
  };
  return { process: child, ended, lastWords, kill };
}

/** Resolves once all of it has been read; the process itself says so only while it was not disconnected. */
function closed(pipe: Readable | null): Promise<void> {
  return new Promise((resolve) => (pipe === null || pipe.closed ? resolve() : pipe.once("close", resolve)));
}

/** Text of a child, as a message shows it. */
export function shortened(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}

/** Some commands are refused before a process is asked for: one that is too long, or has no name. */
function started(program: string, start: () => ChildProcess): ChildProcess {
  try {
    return start();
  } catch (cause) {
    throw new RangeError(`"command" expected a program that starts, got ${describe(program)} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  if (isWindows) {
    spawnSync("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore" });
    return;
  }
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // All of the group have ended.
  }
}
