/** A program in any language as a sampler that is judged: run once a call, or once for all of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SamplerUnderTest } from "../../verify/sampler-under-test.js";
import { readTokens, writeCall } from "./call-folder.js";
import { startChild, type Child } from "./child.js";
import { CommandServer } from "./server.js";
import { withinSeconds } from "./timeout.js";

export interface CommandOptions {
  /** the program and its arguments, at least one */
  readonly command: readonly string[];
  /** seconds that a call may take, the start of the program among them; above 0 */
  readonly timeout: number;
  /** whether one process answers all calls, a line of JSON each */
  readonly isServer: boolean;
}

export interface CommandSampler {
  /**
   * One call at a time.
   * @throws RangeError and Error for a command that does not start, fails or gives no tokens; an Error named "TimeoutError" for one
   *   that does not answer
   */
  readonly sample: SamplerUnderTest;
  /** Lets a server end by itself, then does what dispose does. */
  close(): Promise<void>;
  /** Ends what runs, with its children, and removes all files: at once. */
  dispose(): void;
}

const FOLDER = "{dir}";

/** @throws Error where no temporary folder can be made */
export function commandSampler(options: CommandOptions): CommandSampler {
  const { command, timeout, isServer } = options;
  const folder = temporaryFolder();
  const server = isServer ? new CommandServer(command) : null;
  let child: Child | null = null;
  let calls = 0;

  const runOnce = async (place: string) => {
    child = startChild(withFolder(command, place), false);
    const outcome = await child.ended;
    if (outcome !== null) throw new Error(`"command" expected exit code 0, got ${outcome}${child.lastWords()}`);
  };
  const dispose = () => {
    child?.kill();
    server?.kill();
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    async sample(call) {
      const place = join(folder, `call-${calls++}`);
      try {
        await writeCall(place, call);
        await withinSeconds("command", timeout, server === null ? runOnce(place) : server.ask(place), () => (server ?? child)?.kill());
        return await readTokens(place, call);
      } finally {
        // What was cut off may still write for a moment.
        await rm(place, { recursive: true, force: true, maxRetries: 3 });
      }
    },
    async close() {
      await server?.close();
      dispose();
    },
    dispose,
  };
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "flash-sampling-"));
  } catch (cause) {
    throw new Error(`"TMPDIR" expected a folder to write in, got ${tmpdir()} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
}

function withFolder(command: readonly string[], folder: string): string[] {
  return command.some((part) => part.includes(FOLDER)) ? command.map((part) => part.replaceAll(FOLDER, folder)) : [...command, folder];
}
