/**
 * The sampling rule in plain TypeScript, piece by piece, for those who write kernels or check other samplers.
 * Slow, and without checks of its arguments: everything here takes what docs/spec.md says.
 */
export * from "./spec/constants.js";
export { mulhi, philox4x32, tokenWord, wordAddress, type DrawAddress, type Words4 } from "./spec/philox.js";
export { gamma26, q32 } from "./spec/gumbel.js";
export { argmaxCombine, fix, MASK, reportMargin, reportScore, scoreOf, tauOf, tokenGamma, type Scored } from "./spec/score.js";
export { decodeWeight, dotL32, logitOf, roundHidden, rowZ, scaledSum, type Head, type LogitOf, type WeightData } from "./spec/logit.js";
export { tensorCoreDot, tensorCoreLogit, tensorCoreLogitOf, tensorCoreOperands, type TensorCoreDtype, type TensorCoreOperands } from "./spec/tensor-core.js";
export { drawRow, drawWithoutReplacement, rowFromLogits, type Draw, type RowZ } from "./spec/sample.js";
export { decodeRequest, encodeRequest, type Request, type RowRequest } from "./spec/request.js";
