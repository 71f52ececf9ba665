/** A sampler before all methods and all peers' tests, and what was expected of them. */
import type { SamplerUnderTest } from "../../src/verify/sampler-under-test.js";
import { checkInputNames } from "./check-inputs.js";
import { experiment, experimentNames } from "./gof-inputs.js";
import { findByCheck, findByGof, findByInvariance, type Finding } from "./methods.js";
import type { Mutant } from "./mutant.js";
import { findByPeer, PEERS } from "./peers/list.js";
import { findByHeavyTail } from "./peers/heavy-tail.js";
import { createSampler } from "./sampler.js";

/** A method's finding on one of its inputs. */
export interface MethodResult extends Finding {
  /** null: the method makes its own */
  readonly input: string | null;
  /** that it shows the mutant, or that it shows nothing in the correct sampler; null: either is right */
  readonly mustCatch: boolean | null;
}

/** What the methods find. */
export interface MethodResults {
  readonly check: MethodResult;
  readonly gof: MethodResult;
  readonly invariance: MethodResult;
  /** whether every method found what it must, and nothing where it must not */
  readonly passed: boolean;
}

export interface Trial extends MethodResults {
  readonly name: string;
  readonly fault: string;
  /** for each peer what its tests say is wrong; null: nothing */
  readonly peers: Readonly<Record<string, string | null>>;
}

/** What a mutant without an input of its own is tried on. */
const GOF_ANYWAY = { name: "flat", ladder: [1e5] } as const;
/** Draws of each experiment with the correct sampler, less where its vocabulary is large. */
const CORRECT_DRAWS = 1e5;
const CORRECT_TOKENS = 2e8;

export async function tryMutant(mutant: Mutant): Promise<Trial> {
  const { name, fault, patch } = mutant;
  return { name, fault, ...(await tryMethods(mutant)), peers: await askPeers(await createSampler(patch), name) };
}

export async function tryMethods(mutant: Mutant): Promise<MethodResults> {
  const sampler = await createSampler(mutant.patch);
  const { name, ladder } = mutant.gof === undefined ? GOF_ANYWAY : { name: mutant.gof, ladder: undefined };
  const check = { ...(await findByCheck(sampler, mutant.check)), input: mutant.check, mustCatch: true };
  const gof = { ...(await findByGof(sampler, name, ladder)), input: name, mustCatch: mutant.gof === undefined ? null : true };
  const invariance = { ...(await findByInvariance(sampler)), input: null, mustCatch: mutant.invariance === undefined ? null : true };
  const isFound = check.caught && (gof.caught || gof.mustCatch === null) && (mutant.invariance === undefined || invariance.by.includes(mutant.invariance));
  return { check, gof, invariance, passed: isFound };
}

/** The sampler without a fault, on every input: nobody may find anything. */
export async function tryCorrect(): Promise<Trial> {
  const sampler = await createSampler();
  const check = await firstOf(checkInputNames, (name) => findByCheck(sampler, name));
  const gof = await firstOf(experimentNames, (name) => findByGof(sampler, name, [Math.min(CORRECT_DRAWS, Math.floor(CORRECT_TOKENS / experiment(name).vocabSize))]));
  const invariance = { ...(await findByInvariance(sampler)), input: null, mustCatch: false };
  const peers = await askPeers(sampler, "correct");
  const isQuiet = !check.caught && !gof.caught && !invariance.caught && Object.values(peers).every((found) => found === null);
  return { name: "correct", fault: "none", check, gof, invariance, peers, passed: isQuiet };
}

/** The first finding that caught something, or all of them as one. */
async function firstOf<Name extends string>(names: readonly Name[], find: (name: Name) => Promise<Finding>): Promise<MethodResult> {
  let [draws, seconds] = [0, 0];
  for (const name of names) {
    const finding = await find(name);
    draws += finding.draws;
    seconds += finding.seconds;
    if (finding.caught) return { ...finding, input: name, mustCatch: false };
  }
  return { caught: false, by: [], draws, seconds, input: null, mustCatch: false };
}

async function askPeers(sampler: SamplerUnderTest, mutant: string): Promise<Trial["peers"]> {
  const found: Record<string, string | null> = {};
  for (const { name, tests } of PEERS) found[name] = await findByPeer(sampler, tests);
  return { ...found, vLLM: found["vLLM"] ?? findByHeavyTail(mutant) };
}
