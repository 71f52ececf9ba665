/** The kernels that GPUs run, for every dtype and number of rows, on whatever adapter is here. */
import { describe, vi } from "vitest";
import { obstacleOf } from "../each-backend.js";
import { unavailable } from "../require.js";
import { divisionProblem, divisions } from "../webgpu-divisions.js";

vi.mock("../../gpu/webgpu/tuning.js", async (importOriginal) => (await import("../gpu-tuning.js")).tuningOfGpus(importOriginal));

describe("the kernels of GPUs", async () => {
  describe.skipIf(unavailable("webgpu", await obstacleOf("webgpu")))("webgpu", () => {
    const rows = [1, 2, 3, 9];
    divisions([
      ...rows.map((count) => divisionProblem("bf16", count, 200)),
      ...rows.map((count) => divisionProblem("f16", count, 321)),
      ...rows.map((count) => divisionProblem("f32", count, 97)),
      ...rows.map((count) => divisionProblem("int8", count, 160, 32)),
      ...rows.map((count) => divisionProblem("int8", count, 512, 256)),
    ]);
  });
});
