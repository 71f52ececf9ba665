/** A program in any language as a sampler that is judged: run once a call, or once for all of them. */
import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SamplerCall } from "../../verify/sampler-under-test.js";
import { readTokens, writeCall } from "./call-folder.js";
import { startChild, type Child } from "./child.js";
import { failure, NEVER, type ProcessSampler } from "./process-sampler.js";
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

const FOLDER = "{dir}";

/** @throws Error where no temporary folder can be made */
export function commandSampler(options: CommandOptions): ProcessSampler {
  const { command, timeout, isServer } = options;
  const folder = temporaryFolder();
  const server = isServer ? new CommandServer(command) : null;
  const { failed, fail } = failure();
  let child: Child | null = null;
  let calls = 0;

  const runOnce = async (place: string) => {
    child = startChild(withFolder(command, place), "once");
    const outcome = await child.ended;
    if (outcome !== null) throw new Error(`"command" expected exit code 0, got ${outcome}${child.lastWords()}`);
  };
  const dispose = () => {
    child?.kill();
    server?.kill();
    // What was cut off may still write for a moment.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 20 });
  };
  /** Where a call cannot be written, the sampler has no part in it. */
  const isWritten = (place: string, call: SamplerCall) =>
    writeCall(place, call).then(
      () => true,
      (cause: NodeJS.ErrnoException) => (fail(unwritable(place, cause)), false),
    );
  return {
    failed,
    async sample(call) {
      const place = join(folder, `call-${calls++}`);
      try {
        if (!(await isWritten(place, call))) return await NEVER;
        if (server === null) await withinSeconds("command", timeout, runOnce(place), () => child?.kill());
        else await withinSeconds("command", timeout, server.ask(place), () => server.kill(), ": is stdout flushed?");
        return await readTokens(place, call);
      } finally {
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
    throw unwritable(tmpdir(), cause as NodeJS.ErrnoException);
  }
}

function unwritable(folder: string, cause: NodeJS.ErrnoException): Error {
  return new Error(`"TMPDIR" expected a folder to write in, got ${folder} (${cause.code})`, { cause });
}

function withFolder(command: readonly string[], folder: string): string[] {
  return command.some((part) => part.includes(FOLDER)) ? command.map((part) => part.replaceAll(FOLDER, folder)) : [...command, folder];
}
