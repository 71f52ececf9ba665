/** What other projects test their samplers with, each on its own inputs, made smaller where theirs would take hours here. */
import type { SamplerUnderTest } from "../../../src/verify/sampler-under-test.js";
import { flashInfer } from "./flashinfer.js";
import { flashSampling } from "./flashsampling.js";
import type { PeerTest } from "./peer-test.js";
import { vllm } from "./vllm.js";

export const PEERS: readonly { readonly name: string; readonly tests: readonly PeerTest[] }[] = [
  { name: "FlashInfer", tests: flashInfer() },
  { name: "vLLM", tests: vllm() },
  { name: "FlashSampling", tests: flashSampling() },
];

/** The first of a peer's tests that finds something wrong, as "test: what"; null. */
export async function findByPeer(sampler: SamplerUnderTest, tests: readonly PeerTest[]): Promise<string | null> {
  for (const { name, find } of tests) {
    const found = await find(sampler);
    if (found !== null) return `${name}: ${found}`;
  }
  return null;
}
