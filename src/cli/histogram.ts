/** Draws of one row beside the probabilities they come from: for the eye, with the platform's own exp. */
import { cyan } from "./color.js";

export interface Histogram {
  readonly probabilities: readonly number[];
  readonly counts: readonly number[];
  /** Pearson's statistic; its mean is the number of tokens - 1 when the draws follow the probabilities. */
  readonly chiSquare: number;
}

/** tokens: draws from softmax(logits) */
export function countDraws(logits: Float32Array, tokens: Int32Array): Histogram {
  const weights = Array.from(logits, (logit) => Math.exp(logit));
  const total = weights.reduce((sum, weight) => sum + weight);
  const probabilities = weights.map((weight) => weight / total);
  const counts = probabilities.map(() => 0);
  for (const token of tokens) counts[token]! += 1;
  const chiSquare = probabilities.reduce((sum, p, token) => sum + (counts[token]! - p * tokens.length) ** 2 / (p * tokens.length), 0);
  return { probabilities, counts, chiSquare };
}

/** A line a token: expected and drawn shares, a bar for what was drawn, and a mark where softmax says it should end. */
export function formatHistogram({ probabilities, counts }: Histogram, width: number): string {
  const draws = counts.reduce((sum, count) => sum + count);
  const shares = counts.map((count) => count / draws);
  const scale = (width - 1) / Math.max(...shares, ...probabilities);
  const lines = probabilities.map((probability, token) => {
    const bar = "█".repeat(Math.round(shares[token]! * scale)).padEnd(width);
    const mark = Math.round(probability * scale);
    const numbers = `${String(token).padStart(5)}  ${percent(probability)}  ${percent(shares[token]!)}`;
    return `${numbers}  ${cyan(bar.slice(0, mark))}│${cyan(bar.slice(mark + 1).trimEnd())}`;
  });
  return ["token  softmax    drawn", ...lines].join("\n");
}

function percent(share: number): string {
  return `${(100 * share).toFixed(2)}%`.padStart(7);
}
