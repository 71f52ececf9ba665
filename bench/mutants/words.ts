/** Random words from the package's WebAssembly core. */
import { instantiate } from "@assemblyscript/loader";
import { coreModule } from "../../src/core-module.js";
import { PURPOSE_BITS } from "../../src/spec/constants.js";
import type { Rule } from "./rule.js";

interface WordExports extends Record<string, unknown> {
  heapBase(): number;
  philox4x32(words: number, group: number, position: number, sequence: number, tag: number, key0: number, key1: number): void;
}

/** Tokens of a call of the core. */
const GROUP = 16;

/** Each sampler has its own instance: what was made last lies in its memory. */
export async function createWords(): Promise<Rule["words"]> {
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { exports } = await instantiate<WordExports>((await coreModule("core")) as WebAssembly.Module, { env: { memory } });
  const address = Math.ceil(exports.heapBase() / GROUP) * GROUP;
  const [high, low] = [new Uint32Array(memory.buffer, address, GROUP), new Uint32Array(memory.buffer, address + GROUP * 4, GROUP)];
  return ({ sample, highPurpose, lowPurpose, position, sequence, keyLow, keyHigh }, group, which) => {
    const words = which === 0 ? high : low;
    const tag = (sample << PURPOSE_BITS) | (which === 0 ? highPurpose : lowPurpose);
    exports.philox4x32(words.byteOffset, group, position, sequence, tag, keyLow, keyHigh);
    return words;
  };
}
