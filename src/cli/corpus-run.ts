/** The cases of given logits put to a sampler that is a command, by the folders of docs/invariance.md. */
import { messageOf } from "../verify/values.js";
import { commandSampler } from "../platform/command/sampler.js";
import { callOf, needsOf } from "../verify/corpus/call.js";
import type { CorpusCase, DrawCase } from "../verify/corpus/corpus.js";
import type { Answer } from "../verify/corpus/judge.js";
import type { OptionalInput } from "../verify/invariance/case.js";
import { handshake } from "../verify/invariance/handshake.js";
import { endsTheRun, Probe } from "../verify/invariance/probe.js";
import { cleanedUp } from "./exit.js";
import { progressLine } from "./progress.js";

export interface RunOptions {
  readonly command: readonly string[];
  readonly isServer: boolean;
  /** seconds a call */
  readonly timeout: number;
  readonly reads: readonly OptionalInput[];
}

export interface Ran {
  /** by their cases; null for a call that failed */
  readonly answers: ReadonlyMap<string, Answer>;
  /** why calls failed, by their cases */
  readonly refusals: ReadonlyMap<string, string>;
}

/** Whether a sampler can be called with it. */
export function isCallable(item: CorpusCase, reads: readonly OptionalInput[]): item is DrawCase {
  return item.kind === "logits" && needsOf(item).every((need) => reads.includes(need));
}

/** @throws Error for a sampler that does not answer a plain call, or takes too long for any */
export async function runCases(cases: readonly DrawCase[], { command, isServer, timeout, reads }: RunOptions): Promise<Ran> {
  const sampler = commandSampler({ command, timeout, isServer });
  const [answers, refusals, read] = [new Map<string, Answer>(), new Map<string, string>(), new Set(reads)];
  const progress = process.stderr.isTTY ? progressLine({ format: "{value}/{total} {name}" }, cases.length, { name: "" }) : null;
  const askAll = async () => {
    // A command that cannot draw at all is no sampler that refuses.
    await handshake(new Probe(sampler.sample, 2), read);
    for (const [index, item] of cases.entries()) {
      progress?.update(index, { name: item.name });
      try {
        answers.set(item.name, await sampler.sample(callOf(item, read)));
      } catch (cause) {
        if (endsTheRun(cause)) throw cause;
        answers.set(item.name, null);
        refusals.set(item.name, messageOf(cause));
      }
    }
    return { answers, refusals };
  };
  return cleanedUp(sampler.dispose, async () => {
    try {
      return await Promise.race([sampler.failed, askAll()]);
    } finally {
      progress?.stop();
      await sampler.close();
    }
  });
}
