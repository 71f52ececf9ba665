/**
 * Checks the tokens of somebody else's kernel: draws each one again from the same logits, seed, sequence, position and
 * temperature, and says whether theirs is the token the rule gives. Exit 1 when one is wrong, 2 for a file that is no list of draws.
 * Limit: it trusts their logits; a kernel that also multiplies the head is checked with the hidden states instead.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import { sampleLogits } from "flash-sampling";

/** Logits: what rounding in another order may move. A lead below it says nothing against the kernel's noise. */
const TOLERANCE = 1e-4;

/** What a line holds, and how to tell. A seed is text, as JSON has no 64-bit integers; null is the logit of a masked token. */
const FIELDS = {
  logits: ["numbers or null", (value) => Array.isArray(value) && value.length > 0 && value.every((logit) => logit === null || typeof logit === "number")],
  seed: ["a whole number below 2^64, as a string", (value) => typeof value === "string" && /^\d{1,20}$/.test(value) && BigInt(value) < 1n << 64n],
  sequence: ["a whole number below 2^32", (value) => isWhole(value, 0, 2 ** 32)],
  position: ["a whole number below 2^32", (value) => isWhole(value, 0, 2 ** 32)],
  temperature: ["a number in [0, 256)", (value) => typeof value === "number" && value >= 0 && value < 256],
  token: ["a token id, or -1 for none", (value) => isWhole(value, -1, 2 ** 31)],
};

function isWhole(value, from, to) {
  return Number.isInteger(value) && value >= from && value < to;
}

/** One line of the file. number: counted from 1, for messages. */
function parse(text, number) {
  const refuse = (label, expected, got) => {
    throw new RangeError(`"${label}" of line ${number} expected ${expected}, got ${JSON.stringify(got)?.slice(0, 80) ?? "nothing"}`);
  };
  let draw;
  try {
    draw = JSON.parse(text);
  } catch {
    refuse("draw", "a JSON object", text);
  }
  if (typeof draw !== "object" || draw === null || Array.isArray(draw)) refuse("draw", "a JSON object", draw);
  for (const [name, [expected, isRight]] of Object.entries(FIELDS)) {
    const value = Object.hasOwn(draw, name) ? draw[name] : undefined;
    if (!isRight(value)) refuse(name, expected, value);
  }
  return { ...draw, number };
}

/** Theirs when it is the rule's token, a near tie when rounding alone could have put the runner-up first, else wrong. */
function verdict(theirs, { token, runnerUp, margin }) {
  if (theirs === token) return "same";
  // Where there is no runner-up, there is no margin and no tie.
  return margin !== null && theirs === runnerUp && margin <= TOLERANCE ? "near tie" : "wrong";
}

async function check({ number, logits, seed, sequence, position, temperature, token }) {
  const { details } = await sampleLogits({
    logits: Float32Array.from(logits, (logit) => logit ?? -Infinity),
    seed: BigInt(seed),
    sequence,
    position,
    temperature,
    details: true,
    backend: "reference",
    // A kernel that draws nothing from a row without a token is right.
    onInvalid: "mark",
  });
  return { ...details[0], number, theirs: token, verdict: verdict(token, details[0]) };
}

try {
  const path = process.argv[2] ?? new URL("./draws.jsonl", import.meta.url);
  const lines = (await readFile(path, "utf8")).split("\n");
  const draws = lines.flatMap((line, index) => (line.trim() === "" ? [] : [parse(line, index + 1)]));
  if (draws.length === 0) throw new RangeError(`"${path}" expected at least one draw, got none`);
  const rows = await Promise.all(draws.map(check));
  console.log("line  theirs  expected  margin       verdict");
  for (const { number, theirs, token, margin, verdict } of rows) {
    const cells = [String(number).padStart(4), String(theirs).padStart(6), String(token).padStart(8), (margin?.toExponential(3) ?? "-").padEnd(11), verdict];
    console.log(cells.join("  "));
  }
  if (rows.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;
} catch (error) {
  console.error(`logits: ${error.message}`);
  process.exitCode = 2;
}
