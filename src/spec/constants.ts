/**
 * Every number the sampling rule fixes, as literals that tsc and asc both read (docs/spec.md).
 * Values above 2^31 are unsigned 32-bit; AssemblyScript casts them with u32() where it uses them.
 */

/** Version of docs/spec.md. Any change of a sampled token raises the first number. */
export const SPEC_VERSION = "1.0";

// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC'11).
export const PHILOX_M0 = 0xd2511f53; // multiplies counter word 0
export const PHILOX_M1 = 0xcd9e8d57; // multiplies counter word 2
export const PHILOX_W0 = 0x9e3779b9; // key word 0 step: the golden ratio's fraction, 2^32 (sqrt 5 - 1) / 2
export const PHILOX_W1 = 0xbb67ae85; // key word 1 step: 2^32 (sqrt 3 - 1)
export const PHILOX_ROUNDS = 10;

// Purposes: the low byte of counter word 3. A draw's low word uses its high word's purpose + 1.
export const PURPOSE_GUMBEL = 0;
export const PURPOSE_ACCEPT = 2;
export const PURPOSE_RESIDUAL = 3;
export const PURPOSE_DRAFT = 5;
export const PURPOSE_BITS = 8;
/** A row's draws are numbered below 2^24: the sample number fills counter word 3 above the purpose. */
export const SAMPLE_LIMIT = 0x1000000;

// q32(t) ~ -log2(1 - t/2) / t in Q32 for t in Q32: minimax polynomial of degree 9, relative error 3.5e-9,
// in the nested form C0 + t(C1 + t(C2 + t(C3 + t(C4 + t(C5 - t(C6 - t(C7 - t(C8 - t C9)))))))).
export const LOG2_C0 = 3098163990;
export const LOG2_C1 = 774543136;
export const LOG2_C2 = 258112217;
export const LOG2_C3 = 97654852;
export const LOG2_C4 = 33555500;
export const LOG2_C5 = 34211277;
export const LOG2_C6 = 30666238;
export const LOG2_C7 = 49540405;
export const LOG2_C8 = 30892440;
export const LOG2_C9 = 10744575;
/** ln 2 in Q32, rounded to nearest. */
export const LN2_Q32 = 0xb17217f8;

/** Partial sums of a dot product; lane = column mod 32. */
export const DOT_LANES = 32;
/** Biased f32 exponent of 2^-56: bf16 operands below it read as zero, so no partial result is subnormal. */
export const CANON_EXPONENT_BF16 = 71;
/** Biased f32 exponent of 2^-40: the same for both operands of an f32 head. */
export const CANON_EXPONENT_F32 = 87;
/** A row is refused when the ceiling exponents of max|w|, max|x| and D add up to more than this. */
export const RANGE_EXPONENT_LIMIT = 127;

/** Z and S are Q31.32; Z stays within +-2^62. */
export const SCORE_FRACTION_BITS = 32;
export const Z_LIMIT_BITS = 62;
/** Biased exponents where fix() changes rule: at or above the first, clamp; at or above the second, shift left. */
export const FIX_CLAMP_EXPONENT = 157;
export const FIX_LEFT_EXPONENT = 118;
/** tau = temperature in Q24, saturated to 32 bits. */
export const TAU_FRACTION_BITS = 24;
export const TAU_MAX = 0xffffffff;
export const TEMPERATURE_LIMIT = 256;
/** gamma (Q26) * tau (Q24) >> 18 is the noise in Q31.32. */
export const NOISE_SHIFT = 18;
/** G0 = 5 ln 2 + ln ln 2, the offset between gamma * 2^-26 and the Gumbel value, as an f64. */
export const GUMBEL_OFFSET = 3.0992229822180622;

/** Integer bits for |Z| of an int8 head: m_sum * m_scale * 2^(e_sum + e_scale - 268) in Q32. */
export const INT8_EXPONENT_OFFSET = 268;
