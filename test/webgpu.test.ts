/** WebGPU put to the tests of every backend: in one process, since compiling its kernels takes longer than all that they compute here. */
import { describe } from "vitest";
import { knownAnswers } from "./backend-vectors.js";
import { changingInputs } from "./changing-inputs.js";
import { describeConformance } from "./conformance.js";
import { obstacleOf } from "./each-backend.js";
import { edges } from "./edges.js";
import { properties } from "./properties.js";
import { refusals } from "./refusals.js";
import { unavailable } from "./require.js";
import { missingModel, stories } from "./stories.js";

describeConformance(["webgpu"], 120, 7);

describe("webgpu", async () => {
  describe.skipIf(unavailable("webgpu", await obstacleOf("webgpu")))("as any other", () => {
    describe("gives the known answers of", () => knownAnswers("webgpu"));
    describe("decides the corner cases", () => edges("webgpu"));
    describe("keeps its decisions", () => properties("webgpu"));
    describe("goes by what it was given", () => changingInputs("webgpu"));
    describe("refuses", () => refusals("webgpu"));
    describe.skipIf(unavailable("shared", missingModel))("tells the stories of stories260K", () => stories("webgpu"));
  });
});
