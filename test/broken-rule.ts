/** Deliberate breaks of the rule, one bit or one order at a time: at least one for each clause of docs/spec.md. */
export interface Break {
  /** Section of docs/spec.md. */
  readonly clause: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const inConstants = (clause: string, name: string, from: string, to: string): Break => ({
  clause,
  file: "constants",
  from: `${name} = ${from}`,
  to: `${name} = ${to}`,
});

export const BREAKS: readonly Break[] = [
  inConstants("2 multiplier 0", "PHILOX_M0", "0xd2511f53", "0xd2511f52"),
  inConstants("2 multiplier 1", "PHILOX_M1", "0xcd9e8d57", "0xcd9e8d56"),
  inConstants("2 key step 0", "PHILOX_W0", "0x9e3779b9", "0x9e3779b8"),
  inConstants("2 key step 1", "PHILOX_W1", "0xbb67ae85", "0xbb67ae84"),
  inConstants("2 rounds", "PHILOX_ROUNDS", "10", "9"),
  inConstants("2 purpose", "PURPOSE_GUMBEL", "0", "1"),
  inConstants("2 room of the purpose", "PURPOSE_BITS", "8", "7"),
  { clause: "2 mulhi carry", file: "philox", from: "+ (middle2 >>> 16)", to: "" },
  { clause: "2 token's counter", file: "philox", from: "token >>> 2", to: "token >>> 3" },
  { clause: "2 token's word", file: "philox", from: "[token & 3]", to: "[(token & 3) ^ 1]" },
  { clause: "2 position and sequence", file: "philox", from: "draw.position, draw.sequence", to: "draw.sequence, draw.position" },
  { clause: "2 seed's halves", file: "philox", from: "[Number(draw.seed & 0xffffffffn), Number(draw.seed >> 32n)]", to: "[Number(draw.seed >> 32n), Number(draw.seed & 0xffffffffn)]" },
  ...[3098163990, 774543136, 258112217, 97654852, 33555500, 34211277, 30666238, 49540405, 30892440, 10744575].map((coefficient, power) =>
    // A coefficient enters through its upper bits: the higher the power, the coarser the break that shows in 32 bits.
    inConstants(`3 coefficient ${power}`, `LOG2_C${power}`, String(coefficient), String(coefficient + (power < 2 ? 1 : 2 ** power))),
  ),
  inConstants("3 ln 2", "LN2_Q32", "0xb17217f8", "0xb17217f7"),
  { clause: "3 clz of hi", file: "gumbel", from: "Math.clz32(high | 1)", to: "Math.clz32(high)" },
  { clause: "3 last bit of h1", file: "gumbel", from: "(high << 1) | (low >>> 31)", to: "high << 1" },
  { clause: "3 floor of l1", file: "gumbel", from: "(low << 1) | 64", to: "(low << 1) | 32" },
  { clause: "3 zeros past h1", file: "gumbel", from: "32 + Math.clz32(low1)", to: "31 + Math.clz32(low1)" },
  { clause: "3 exponent of the upper half", file: "gumbel", from: "5 + zeros + normalise", to: "4 + zeros + normalise" },
  { clause: "3 exponent of the lower half", file: "gumbel", from: "normalise - 27", to: "normalise - 26" },
  { clause: "3 bits of w", file: "gumbel", from: "((low >>> 1) >>> (31 - shift))", to: "0" },
  { clause: "3 complement", file: "gumbel", from: "~(mantissa << 1) >>> 0", to: "-(mantissa << 1) >>> 0" },
  inConstants("4.1 small bf16 operands", "CANON_EXPONENT_BF16", "71", "70"),
  inConstants("4.1 small f32 operands", "CANON_EXPONENT_F32", "87", "88"),
  { clause: "4.1 bf16 ties to even", file: "float", from: "bits + 0x7fff + ((bits >>> 16) & 1)", to: "bits + 0x8000" },
  { clause: "4.1 f16 ties to even", file: "float", from: "value + half - 1 + ((value >>> shift) & 1)", to: "value + half" },
  { clause: "4.1 f16 overflow", file: "float", from: "magnitude >= 0x477ff000", to: "magnitude >= 0x477fe000" },
  { clause: "4.1 f16 subnormals", file: "float", from: "(113 - shift) << 23", to: "(112 - shift) << 23" },
  { clause: "4.1 canonical weights", file: "logit", from: "return f32FromBits(canonBf16(bf16ToF32Bits(stored)))", to: "return f32FromBits(bf16ToF32Bits(stored))" },
  inConstants("4.2 lanes", "DOT_LANES", "32", "16"),
  { clause: "4.2 lane of a column", file: "logit", from: "column % DOT_LANES", to: "(column >> 1) % DOT_LANES" },
  { clause: "4.2 tree", file: "logit", from: "sums[2 * j]! + sums[2 * j + 1]!", to: "sums[j]! + sums[j + sums.length / 2]!" },
  { clause: "4.2 rounding of products", file: "logit", from: "Math.fround(weights[column]! * hidden[column]!)", to: "weights[column]! * hidden[column]!" },
  inConstants("4.3 exponent offset", "INT8_EXPONENT_OFFSET", "268", "267"),
  { clause: "4.3 truncation", file: "logit", from: "return clampZ(sumBits >>> 31 ? -magnitude : magnitude)", to: "return clampZ(sumBits >>> 31 ? (shift >= 0 ? -magnitude : -product >> BigInt(-shift)) : magnitude)" },
  { clause: "4.3 clamp after each group", file: "logit", from: "z = clampZ(z + scaledSum(", to: "z = (z + scaledSum(" },
  { clause: "4.3 scale of a group", file: "logit", from: "token * groups + group", to: "token * groups" },
  inConstants("5 clamp exponent", "FIX_CLAMP_EXPONENT", "157", "158"),
  inConstants("5 left shift", "FIX_LEFT_EXPONENT", "118", "117"),
  inConstants("5 clamp", "Z_LIMIT_BITS", "62", "61"),
  { clause: "5 truncation", file: "score", from: "z: negative ? -magnitude : magnitude, valid", to: "z: negative ? -magnitude - 1n : magnitude, valid" },
  { clause: "5 +inf", file: "score", from: "negative && fraction === 0", to: "fraction === 0" },
  { clause: "5 NaN", file: "score", from: "negative && fraction === 0", to: "negative" },
  { clause: "5 mask", file: "score", from: "return z === MASK ? MASK : z +", to: "return z +" },
  { clause: "5 rounding of tau", file: "score", from: "TAU_FRACTION_BITS + 0.5)", to: "TAU_FRACTION_BITS)" },
  inConstants("5 largest tau", "TAU_MAX", "0xffffffff", "0xfffffffe"),
  inConstants("5 noise shift", "NOISE_SHIFT", "18", "17"),
  { clause: "5 unsigned product", file: "score", from: "BigInt(gamma) * BigInt(tau)", to: "BigInt.asIntN(64, BigInt(gamma) * BigInt(tau))" },
  { clause: "5 ties", file: "score", from: "a.token <= b.token ? a : b", to: "a.token <= b.token ? b : a" },
  { clause: "5 low word's purpose", file: "score", from: "draw.purpose + 1", to: "draw.purpose + 2" },
  { clause: "5 sample numbers", file: "sample", from: "(request.firstSample ?? 0) + sample", to: "sample" },
  { clause: "5 masked runner-up", file: "sample", from: ".filter(({ score }) => score !== MASK)", to: "" },
  { clause: "5 invalid before all masked", file: "sample", from: 'row === null ? "invalid" : "all-masked"', to: '"all-masked"' },
  inConstants("6 G0", "GUMBEL_OFFSET", "3.0992229822180622", "3.0992229822180626"),
  { clause: "6 margin in integers first", file: "score", from: "Number(score - runnerUpScore)", to: "(Number(score) - Number(runnerUpScore))" },
  { clause: "7 magic word", file: "request", from: "0x31515246", to: "0x31515247" },
  { clause: "7 place of tau", file: "request", from: "RECORD_TAU = 4", to: "RECORD_TAU = 7" },
  { clause: "7 reserved words", file: "request", from: "words[word] !== 0", to: "words[word] === 1" },
  { clause: "7 sample numbers", file: "request", from: "firstSample + samples > SAMPLE_LIMIT", to: "firstSample > SAMPLE_LIMIT" },
];
