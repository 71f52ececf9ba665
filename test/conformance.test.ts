/** The quick part of the conformance run; test/slow has all 10,000 problems. */
import { describeConformance } from "./conformance.js";

describeConformance(400);
