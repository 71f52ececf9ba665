/** How likely a right sampler looks wrong by chance. Bounds, each at least the true probability. */

/** Of `draws` independent tokens, all equal to tokens that were drawn independently, each uniform over vocabSize. */
export function allCoincide(vocabSize: number, draws: number): number {
  return vocabSize ** -draws;
}

/** Of fewer than `least` different tokens in `draws` uniform ones: some set of least - 1 tokens holds all of them. */
export function fewDistinct(vocabSize: number, draws: number, least: number): number {
  return choose(vocabSize, least - 1) * ((least - 1) / vocabSize) ** draws;
}

/** Of a token that `draws` draws from `tokens` equally probable ones leave out. */
export function someMissing(tokens: number, draws: number): number {
  return tokens * (1 - 1 / tokens) ** draws;
}

/** Of at least `count` of `draws` independent uniform tokens being one and the same, whichever that is. */
export function sameOften(vocabSize: number, draws: number, count: number): number {
  return vocabSize * choose(draws, count) * vocabSize ** -count;
}

/** The counts of a binomial variable that are likely: below `from` and above `to` lie tails of a probability of at most `tail` each. */
export function likelyCounts(draws: number, probability: number, tail: number): { readonly from: number; readonly to: number } {
  const exactly = (count: number) => choose(draws, count) * probability ** count * (1 - probability) ** (draws - count);
  let from = 0;
  for (let sum = exactly(0); sum <= tail; sum += exactly(++from));
  let to = draws;
  for (let sum = exactly(draws); sum <= tail; sum += exactly(--to));
  return { from, to };
}

function choose(n: number, k: number): number {
  let result = 1;
  for (let taken = 1; taken <= k; taken++) result *= (n - k + taken) / taken;
  return result;
}
