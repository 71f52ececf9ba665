/** A device whose compiler changes what sampleTile computes, for tests of the self-test. */
import { expect } from "vitest";
import { GpuContext } from "../gpu/webgpu/context.js";
import { Decider } from "../gpu/webgpu/decider.js";
import { createHeadSink } from "../gpu/webgpu/head.js";
import { KNOWN_SHAPES } from "../gpu/webgpu/self-test-inputs.js";
import { SelfTest, type CreateSink } from "../gpu/webgpu/self-test.js";
import { mutate, type Mutant } from "./webgpu-mutants.js";

export type Miscompile = (translate: (code: string) => string) => { readonly test: SelfTest; readonly createSink: CreateSink };

/** What makes such devices of the context's. */
export async function miscompilerOf(context: GpuContext): Promise<Miscompile> {
  const decider = await Decider.create(context);
  return (translate) => {
    const wrong = new GpuContext(context.device, context.description, context.isSoftware, translate);
    const createSink: CreateSink = (shape, scales, rung) => createHeadSink(wrong, decider, shape, scales, rung === "opaque sums");
    return { test: new SelfTest(context, createSink), createSink };
  };
}

export const wrongBits = expect.objectContaining({ name: "GpuError", kind: "wrong-bits" });

export async function expectRefusal(miscompile: Miscompile, mutant: Mutant): Promise<void> {
  const { test } = miscompile((code) => mutate(code, mutant));
  await expect(test.assertRight(KNOWN_SHAPES[mutant.head], "opaque sums", 1)).rejects.toEqual(wrongBits);
}
