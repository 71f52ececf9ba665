/** The process that a module runs in: it takes calls from module-sampler.ts, and nothing that a module does to it ends the run unnoticed. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe } from "../../describe.js";
import type { SamplerCall, SamplerUnderTest } from "../../verify/sampler-under-test.js";
import { shortened } from "./child.js";

/** What the process says. refused: no call can be answered, and why. */
export type HostMessage =
  | { readonly kind: "ready" }
  | { readonly kind: "tokens"; readonly tokens: Int32Array }
  | { readonly kind: "error"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string };

/**
 * Answers calls until the other end goes. It throws nothing: what is wrong with the module is told to the other end.
 * @throws TypeError in a process without another end
 */
export async function hostModule(file: string): Promise<void> {
  if (process.send === undefined) throw new TypeError('"--module" expected to be given to invariance, which starts this command, got a start by hand');
  process.once("disconnect", () => process.exit());
  process.on("uncaughtException", (thrown) => refuse(`expected a sampler that gives its errors to its caller, got one by itself: ${messageOf(thrown)}`));
  const sampler = await load(file);
  if (sampler === null) return;
  process.on("message", (call: SamplerCall) => void answer(sampler, call));
  send({ kind: "ready" });
}

async function load(file: string): Promise<SamplerUnderTest | null> {
  try {
    const module = (await import(pathToFileURL(resolve(file)).href)) as { readonly default?: unknown };
    if (typeof module.default === "function") return module.default as SamplerUnderTest;
    refuse(`expected a function as its default export, got ${describe(module.default)}`);
  } catch (thrown) {
    refuse(`expected a module that loads, got ${describe(file)} (${messageOf(thrown)})`);
  }
  return null;
}

async function answer(sampler: SamplerUnderTest, { logits, mask, ...call }: SamplerCall): Promise<void> {
  try {
    // What came lies in one buffer together; a sampler may look at the buffer of each.
    const tokens = await sampler({ ...call, logits: logits.slice(), ...(mask && { mask: mask.slice() }) });
    sendTokens(tokens);
  } catch (thrown) {
    send({ kind: "error", message: messageOf(thrown) });
  }
}

/** What is no list of tokens is told by the one who asked; some values never get there. */
function sendTokens(tokens: Int32Array): void {
  try {
    send({ kind: "tokens", tokens });
  } catch {
    send({ kind: "error", message: `"--module" expected to return an Int32Array of tokens, got ${describe(tokens)}` });
  }
}

function refuse(what: string): void {
  send({ kind: "refused", message: `"--module" ${what}` });
}

function send(message: HostMessage): void {
  // Where the other end is gone, the process ends.
  process.send!(message, undefined, {}, () => {});
}

/** Anything may be thrown, and an error may throw when it is looked at. */
function messageOf(thrown: unknown): string {
  try {
    return thrown instanceof Error ? shortened(String(thrown.message)) || thrown.name : describe(thrown);
  } catch {
    return "an error that cannot be read";
  }
}
