/** The edge corpus on WebGPU, whose software takes a minute for it; the quick tests ask every other backend. */
import { describe } from "vitest";
import { corpus } from "../corpus.js";
import { obstacleOf } from "../each-backend.js";
import { unavailable } from "../require.js";

describe("webgpu", async () => {
  describe.skipIf(unavailable("webgpu", await obstacleOf("webgpu")))("draws the edge corpus", () => corpus("webgpu"));
});
