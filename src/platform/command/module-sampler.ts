/** A function of a JavaScript module as a sampler that is judged: in a process of its own, so that it may hang, print, crash or exit. */
import type { SamplerCall } from "../../verify/sampler-under-test.js";
import { startChild } from "./child.js";
import type { HostMessage } from "./module-host.js";
import { failure, NEVER, type ProcessSampler } from "./process-sampler.js";
import { withinSeconds } from "./timeout.js";

export interface ModuleOptions {
  /** arguments of this runtime that start a process which calls hostModule */
  readonly host: readonly string[];
  /** seconds that a call may take, the loading of the module among them; above 0 */
  readonly timeout: number;
}

type Answer = Extract<HostMessage, { kind: "tokens" | "error" }>;

/** Milliseconds that the process has for its end. */
const FAREWELL = 500;

export function moduleSampler({ host, timeout }: ModuleOptions): ProcessSampler {
  const child = startChild([process.execPath, ...host], "host");
  const { failed, fail } = failure();
  let answered: (answer: Answer | null) => void = () => {};
  let isReady: () => void = () => {};
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  let isOver = false;
  const end = (message: string) => {
    isOver = true;
    fail(new RangeError(message));
    answered(null);
    isReady();
  };
  // A module may send messages as well: they are none of these, and not looked at.
  child.process.on("message", (message: Partial<HostMessage> | null) => {
    if (message?.kind === "ready") isReady();
    else if (message?.kind === "refused") end(message.message!);
    else if (message?.kind === "tokens" || message?.kind === "error") answered(message as Answer);
  });
  void child.ended.then((outcome) => end(`"--module" expected a sampler that leaves the process running, got ${outcome ?? "exit code 0"} before a verdict`));

  const ask = async (call: SamplerCall): Promise<Answer | null> => {
    const answer = new Promise<Answer | null>((resolve) => (answered = resolve));
    await ready;
    if (isOver) return null;
    // Where it cannot be sent, the process has ended.
    child.process.send(call, undefined, {}, () => {});
    return answer;
  };
  return {
    failed,
    async sample(call) {
      const answer = await withinSeconds("--module", timeout, ask(call), child.kill);
      if (answer === null) return NEVER;
      if (answer.kind === "error") throw new Error(answer.message);
      return answer.tokens;
    },
    async close() {
      if (child.process.connected) child.process.disconnect();
      const late = setTimeout(child.kill, FAREWELL);
      await child.ended;
      clearTimeout(late);
    },
    dispose: child.kill,
  };
}
