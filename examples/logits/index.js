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

/** Theirs when it is the rule's token, a near tie when rounding alone could have put the runner-up first, else wrong. */
function verdict(theirs, { token, runnerUp, margin }) {
  if (theirs === token) return "same";
  return theirs === runnerUp && margin <= TOLERANCE ? "near tie" : "wrong";
}

/** One line of the file. logits: numbers, or null for a masked token. seed: a string, as JSON has no 64-bit integers. */
async function check({ logits, seed, sequence, position, temperature, token }) {
  const { details } = await sampleLogits({
    logits: Float32Array.from(logits, (logit) => logit ?? -Infinity),
    seed: BigInt(seed),
    sequence,
    position,
    temperature,
    details: true,
    backend: "reference",
  });
  return { ...details[0], theirs: token, verdict: verdict(token, details[0]) };
}

try {
  const path = process.argv[2] ?? new URL("./draws.jsonl", import.meta.url);
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  if (lines.length === 0) throw new RangeError(`"${path}" expected at least one draw, got none`);
  const rows = await Promise.all(lines.map((line) => check(JSON.parse(line))));
  console.log("line  theirs  expected  margin       verdict");
  rows.forEach(({ theirs, token, margin, verdict }, index) => {
    const cells = [String(index + 1).padStart(4), String(theirs).padStart(6), String(token).padStart(8), (margin ?? 0).toExponential(3).padEnd(11), verdict];
    console.log(cells.join("  "));
  });
  if (rows.some(({ verdict }) => verdict === "wrong")) process.exitCode = 1;
} catch (error) {
  console.error(`logits: ${error.message}`);
  process.exitCode = 2;
}
