/** The order in which filters take tokens: by falling logit, equal ones by rising id. Logits hold no NaN. */
export function byLogit(logits: Float32Array): number[] {
  return Array.from(logits, (_, token) => token).sort((a, b) => (logits[a] === logits[b] ? a - b : logits[b]! > logits[a]! ? 1 : -1));
}
