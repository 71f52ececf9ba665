/** The quick part of the conformance run; test/slow has all 10,000 problems, and webgpu.test.ts some of these. */
import { describeConformance } from "./conformance.js";
import { BESIDE_WEBGPU } from "./each-backend.js";

describeConformance(BESIDE_WEBGPU, 120);
