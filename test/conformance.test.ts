/** The quick part of the conformance run; test/slow has all 10,000 problems on every backend. */
import { describeConformance } from "./conformance.js";

describeConformance(120, { webgpu: 7 });
