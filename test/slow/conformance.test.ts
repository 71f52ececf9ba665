/** 10,000 problems, 2,500 of each dtype, a fifth decided by ties or the last bit; on WebGPU, slow without a GPU, every fifth. */
import { describeConformance } from "../conformance.js";
import { BESIDE_WEBGPU } from "../each-backend.js";

describeConformance(BESIDE_WEBGPU, 10_000);
describeConformance(["webgpu"], 10_000, 5);
