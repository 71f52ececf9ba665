/** A command as a child process: started in a group of its own, ended with all that it started, and what it said last. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { describe } from "../../describe.js";

/** Characters of stderr that are kept: for the last line of a traceback. */
const KEPT = 4000;
/** Characters of it that a message shows. */
const SHOWN = 300;
/** Milliseconds that pipes may stay open after the end, when something that left the group holds them. */
const LINGER = 500;
const isWindows = process.platform === "win32";

export interface Child {
  readonly process: ChildProcess;
  /** Resolves when it has ended: how, in words; null for exit code 0. Never rejects. */
  readonly ended: Promise<string | null>;
  /** The last line of stderr, in brackets; empty when there is none. */
  lastWords(): string;
  /** Ends it and its children at once. */
  kill(): void;
}

/** stdin and stdout are pipes for a server, and nothing otherwise. */
export function startChild(command: readonly string[], isServer: boolean): Child {
  const [program, ...args] = command as [string, ...string[]];
  const pipe = isServer ? "pipe" : "ignore";
  const child = spawn(program, args, { stdio: [pipe, pipe, "pipe"], detached: !isWindows, windowsHide: true });
  let said = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-KEPT)));
  const kill = () => killGroup(child);
  const ended = new Promise<string | null>((resolve) => {
    child.on("error", (error: NodeJS.ErrnoException) => resolve(`a program that does not start: ${describe(program)} (${error.code})`));
    child.on("exit", (code, signal) => {
      kill();
      const outcome = code === 0 ? null : code === null ? `its end by ${signal}` : `exit code ${code}`;
      const linger = setTimeout(() => resolve(outcome), LINGER);
      child.on("close", () => {
        clearTimeout(linger);
        resolve(outcome);
      });
    });
  });
  const lastWords = () => {
    const line = said.trimEnd().split("\n").at(-1)!.trim();
    return line === "" ? "" : ` (${line.slice(0, SHOWN)})`;
  };
  return { process: child, ended, lastWords, kill };
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
