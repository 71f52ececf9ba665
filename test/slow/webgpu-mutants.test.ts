/** Every deliberately miscompiled kernel is refused by the self-test; webgpu-self-test.test.ts has some of them. */
import { beforeAll, describe, it } from "vitest";
import { unavailable } from "../require.js";
import { openSharedContext } from "../webgpu-device.js";
import { expectRefusal, miscompilerOf, type Miscompile } from "../webgpu-miscompiled.js";
import { MUTANTS } from "../webgpu-mutants.js";

const opened = await openSharedContext();

describe.skipIf(unavailable("webgpu", typeof opened === "string" ? opened : null))("a WebGPU device", () => {
  const { context } = opened as Exclude<typeof opened, string>;
  let miscompile: Miscompile;
  beforeAll(async () => void (miscompile = await miscompilerOf(context)));

  it.each(MUTANTS)("is refused with $name ($head)", (mutant) => expectRefusal(miscompile, mutant));
});
