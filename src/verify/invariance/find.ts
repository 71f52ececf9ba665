/** findInvariances: asks a sampler every question of the list and makes the smallest case of each that it fails. */
import { checkInteger } from "../../arguments.js";
import { describe } from "../../describe.js";
import { SPEC_VERSION } from "../../spec/constants.js";
import { VERSION } from "../../version.js";
import type { InvarianceDocument, InvarianceFinding } from "../documents.js";
import { abortable, checkCallback, checkSignal, readOptions } from "../guards.js";
import { checkText, isList } from "../values.js";
import type { SamplerUnderTest } from "../sampler-under-test.js";
import { OPTIONAL_INPUTS, type Invariance, type Making, type OptionalInput, type Size } from "./case.js";
import { handshake } from "./handshake.js";
import { INVARIANCES } from "./list.js";
import { CallLimitReached, Probe } from "./probe.js";
import { Random } from "./random.js";
import { checkCase, shrink } from "./shrink.js";

export interface InvarianceProgress {
  /** invariances that are done, of `total` */
  readonly done: number;
  readonly total: number;
  /** the one that is asked next; null when all are done */
  readonly name: string | null;
  readonly calls: number;
}

export interface InvarianceOptions {
  /** how the document names the sampler, 1 to 100,000 characters; default "sampler" */
  readonly name?: string | undefined;
  /** names of the invariances to ask alone; default: all that are not on request */
  readonly only?: readonly string[] | undefined;
  /** names to leave out */
  readonly skip?: readonly string[] | undefined;
  /** names to ask beside the others: those on request */
  readonly also?: readonly string[] | undefined;
  /** what the sampler reads beside logits, temperature and seed; default samples, sequence and position */
  readonly reads?: readonly OptionalInput[] | undefined;
  /** of the made-up cases, u32; default 1 */
  readonly seed?: number | undefined;
  /** calls of the sampler, 2 to 2^31; default 5000. What they do not suffice for is not asked, and the document then has not passed. */
  readonly maxCalls?: number | undefined;
  /** looked at between calls */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: InvarianceProgress) => void) | undefined;
}

export const DEFAULT_READS: readonly OptionalInput[] = ["samples", "sequence", "position"];
export const DEFAULT_SEED = 1;
export const DEFAULT_MAX_CALLS = 5000;
const CALLS_LIMIT = 2 ** 31;
/** A report takes no longer one. */
const NAME_LIMIT = 100_000;

interface Settings {
  readonly seed: number;
  readonly reads: ReadonlySet<OptionalInput>;
  readonly probe: Probe;
}

/**
 * Asks a sampler for each invariance whether it keeps it. Cases are made up from `seed`: the same options find the same.
 * A right sampler is found wrong with a probability below 1e-9.
 * @throws TypeError, RangeError naming the option; the signal's reason, whatever that is; what the sampler throws when it is asked for its first
 *   tokens; what it throws with the name "AbortError" or "TimeoutError"; RangeError where the calls do not suffice for any. All that it throws
 *   otherwise breaks the invariance that was asked for.
 */
export async function findInvariances(sampler: SamplerUnderTest, options: InvarianceOptions = {}): Promise<InvarianceDocument> {
  if (typeof sampler !== "function") throw new TypeError(`"sampler" expected a function, got ${describe(sampler)}`);
  const given = readOptions(options, ["name", "only", "skip", "also", "reads", "seed", "maxCalls", "signal", "onProgress"]);
  const { name = "sampler", reads: inputs = DEFAULT_READS, seed = DEFAULT_SEED, maxCalls = DEFAULT_MAX_CALLS, signal, onProgress } = given;
  checkText("name", name, NAME_LIMIT);
  if (name === "") throw new RangeError('"name" expected at least one character, got ""');
  checkInteger("seed", seed, 0, 2 ** 32);
  checkInteger("maxCalls", maxCalls, 2, CALLS_LIMIT + 1);
  checkSignal(signal);
  checkCallback("onProgress", onProgress);
  const reads = new Set(readNames("reads", inputs, OPTIONAL_INPUTS));
  const chosen = choose(given, reads);
  return abortable(signal, async () => {
    const probe = new Probe(sampler, maxCalls, signal);
    await handshake(probe, reads);
    const findings = await askAll(chosen, { seed, reads, probe }, onProgress);
    // Nothing is known of such a sampler: it neither passed nor failed.
    if (findings.every(({ status }) => status === "skipped")) throw new RangeError(`"maxCalls" expected enough calls for one invariance, got ${maxCalls}`);
    const unasked = findings.filter(({ why }) => why === OUT_OF_CALLS).map((finding) => finding.name);
    const passed = unasked.length === 0 && findings.every(({ status }) => status !== "broken");
    return { kind: "invariance", specVersion: SPEC_VERSION, version: VERSION, passed, sampler: name, calls: probe.calls, seed, reads: [...reads], unasked, findings };
  });
}

const UNREPEATABLE = "the same call draws other tokens each time: see repeated-call";
const OUT_OF_CALLS = "no more calls may be made";

async function askAll(chosen: ReturnType<typeof choose>, settings: Settings, onProgress: InvarianceOptions["onProgress"]): Promise<InvarianceFinding[]> {
  const findings: InvarianceFinding[] = [];
  const tell = (name: string | null) => onProgress?.({ done: findings.length, total: chosen.length, name, calls: settings.probe.calls });
  let isRepeatable = true;
  for (const { invariance, reason } of chosen) {
    tell(invariance.name);
    const obstacle = reason ?? (invariance.isComparison && !isRepeatable ? UNREPEATABLE : null);
    const { finding, tokensDiffer } = obstacle === null ? await ask(invariance, settings) : skipped(invariance, obstacle);
    if (invariance.name === "repeated-call" && tokensDiffer) isRepeatable = false;
    findings.push(finding);
  }
  tell(null);
  return findings;
}

/** Each invariance, and why it is not asked. */
function choose({ only: alone, skip: out = [], also: beside = [] }: InvarianceOptions, reads: ReadonlySet<OptionalInput>) {
  const names = INVARIANCES.map(({ name }) => name);
  const only = alone === undefined ? undefined : readNames("only", alone, names);
  const skip = readNames("skip", out, names);
  const also = readNames("also", beside, names);
  const chosen = INVARIANCES.filter(({ name }) => only === undefined || only.includes(name) || also.includes(name)).map((invariance) => ({
    invariance,
    reason: reasonToSkip(invariance, skip, [...(only ?? []), ...also], reads),
  }));
  if (chosen.some(({ reason }) => reason === null)) return chosen;
  throw new RangeError(`"only" expected at least one invariance that is asked, got ${chosen.map(({ invariance, reason }) => `${invariance.name} (${reason})`).join(", ") || "none"}`);
}

function reasonToSkip({ name, needs, onRequest }: Invariance, skip: readonly string[], asked: readonly string[], reads: ReadonlySet<OptionalInput>): string | null {
  if (skip.includes(name)) return "left out";
  const missing = needs.filter((input) => !reads.has(input));
  if (missing.length > 0) return `the sampler is not said to read ${missing.join(", ")}`;
  return onRequest === undefined || asked.includes(name) ? null : `asked on request alone: ${onRequest}`;
}

/** A copy, in which each is there once. */
function readNames<Name extends string>(label: string, names: unknown, known: readonly Name[]): Name[] {
  if (!isList(names)) throw new TypeError(`"${label}" expected a list of names, got ${describe(names)}`);
  const given = Array.from(names, (name) => {
    if (known.includes(name as Name)) return name as Name;
    throw new RangeError(`"${label}" expected names from ${known.join(", ")}, got ${describe(name)}`);
  });
  return [...new Set(given)];
}

interface Asked {
  readonly finding: InvarianceFinding;
  /** it is broken by tokens, and not by a call that failed */
  readonly tokensDiffer: boolean;
}

async function ask(invariance: Invariance, settings: Settings): Promise<Asked> {
  try {
    return await judge(invariance, settings);
  } catch (error) {
    if (!(error instanceof CallLimitReached)) throw error;
    return skipped(invariance, OUT_OF_CALLS);
  }
}

async function judge(invariance: Invariance, { seed, reads, probe }: Settings): Promise<Asked> {
  const stream = hash(invariance.name);
  const making = (size: Size, attempt: number): Making => ({ ...size, reads, random: new Random(seed, stream, attempt) });
  let cases = 0;
  for (const [attempt, size] of invariance.sizes.entries()) {
    for (const [index, candidate] of invariance.make(making(size, attempt)).entries()) {
      const { broken, cases: more } = await checkCase(candidate, probe);
      cases += more;
      if (broken === null) continue;
      const { why, smallest, isFailedCall = false } = await shrink(invariance, { broken, size, index }, probe, (smaller, tries) => making(smaller, invariance.sizes.length + tries));
      return { finding: { ...named(invariance), status: "broken", cases, why, smallest }, tokensDiffer: !isFailedCall };
    }
  }
  return cases > 0 ? { finding: { ...named(invariance), status: "kept", cases, why: null, smallest: null }, tokensDiffer: false } : skipped(invariance, "the sampler is not said to read enough inputs");
}

function named({ name, question }: Invariance) {
  return { name, question };
}

function skipped(invariance: Invariance, why: string): Asked {
  return { finding: { ...named(invariance), status: "skipped", cases: 0, why, smallest: null }, tokensDiffer: false };
}

/** FNV-1a, 32 bits: the cases of an invariance are its own, whatever else is asked. */
function hash(text: string): number {
  return Array.from(text).reduce((state, character) => Math.imul(state ^ character.charCodeAt(0), 0x01000193) >>> 0, 0x811c9dc5);
}
