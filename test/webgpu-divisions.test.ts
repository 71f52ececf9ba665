/** The kernels that GPUs run, one row's of every dtype and one for each number of rows, on whatever adapter is here. */
import { describe, vi } from "vitest";
import { obstacleOf } from "./each-backend.js";
import { unavailable } from "./require.js";
import { divisionProblem, divisions } from "./webgpu-divisions.js";

vi.mock("../gpu/webgpu/tuning.js", async (importOriginal) => (await import("./gpu-tuning.js")).tuningOfGpus(importOriginal));

describe("the kernels of GPUs", async () => {
  describe.skipIf(unavailable("webgpu", await obstacleOf("webgpu")))("webgpu", () => {
    divisions([
      divisionProblem("bf16", 9, 200), // and one row's: a head's self-test asks it first
      divisionProblem("f16", 2, 321),
      divisionProblem("f32", 3, 97),
      divisionProblem("int8", 1, 160, 32),
      divisionProblem("int8", 1, 512, 256),
    ]);
  });
});
