/** A page that draws from a made-up head whenever a control changes, and compares the counts with the probabilities. */
import { createSampler } from "flash-sampling";

const [vocabSize, hiddenSize, shownTokens] = [28, 32, 24];
/** Whole numbers over 1000: the same head and hidden state in every browser. */
const weights = Float32Array.from({ length: vocabSize * hiddenSize }, (_, index) => ((index * 7919) % 2001) / 1000 - 1);
const hiddenStates = Float32Array.from({ length: hiddenSize }, (_, index) => ((index * 104729) % 2001) / 1000 - 1);

const controls = document.querySelector("#controls");
const status = document.querySelector("#status");
let latest = 0;

try {
  const sampler = await createSampler({ weights: { data: weights, dtype: "f32", shape: [vocabSize, hiddenSize] } });
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("input", () => show(sampler));
  await show(sampler);
} catch (error) {
  report(error);
}

async function show(sampler) {
  const form = new FormData(controls);
  const temperature = Number(form.get("temperature"));
  document.querySelector("#temperature-value").value = temperature.toFixed(2);
  if (!controls.checkValidity()) return report(new RangeError("Seed expects a whole number below 2^64, draws 1 to 100000."));
  // A slider sends many values: only the answer to the last one is shown.
  const turn = ++latest;
  try {
    const numSamples = Number(form.get("draws"));
    const { tokens } = await sampler.sample({ hiddenStates, seed: BigInt(form.get("seed")), temperature, numSamples });
    if (turn !== latest) return;
    status.className = "";
    status.textContent = `${sampler.backend}, head ${vocabSize} x ${hiddenSize} ${sampler.dtype}`;
    showTokens(tokens.subarray(0, shownTokens));
    showHistogram(tokens, probabilities(temperature));
  } catch (error) {
    report(error);
  }
}

function report(error) {
  status.className = "failed";
  status.textContent = error.message;
}

function showTokens(tokens) {
  document.querySelector("#tokens").replaceChildren(...Array.from(tokens, (token) => element("li", "", String(token))));
}

function showHistogram(tokens, expected) {
  const drawn = new Float64Array(vocabSize);
  for (const token of tokens) drawn[token] += 1 / tokens.length;
  const tallest = Math.max(...drawn, ...expected);
  const histogram = document.querySelector("#histogram");
  histogram.ariaLabel = `Share of each token in ${tokens.length} draws; the most frequent is token ${drawn.indexOf(Math.max(...drawn))}`;
  const columns = Array.from(drawn, (share, token) => {
    const column = element("div", "column");
    column.title = `token ${token}: drawn ${(100 * share).toFixed(2)} %, probability ${(100 * expected[token]).toFixed(2)} %`;
    const bar = element("div", "drawn");
    bar.style.height = `${(100 * share) / tallest}%`;
    const line = element("div", "expected");
    line.style.bottom = `${(100 * expected[token]) / tallest}%`;
    column.append(bar, line, element("div", "token", String(token)));
    return column;
  });
  histogram.replaceChildren(...columns);
}

/** softmax(logits / T) in double, for the lines only; a point mass at T = 0. */
function probabilities(temperature) {
  const logits = Array.from({ length: vocabSize }, (_, token) => hiddenStates.reduce((sum, x, column) => sum + x * weights[token * hiddenSize + column], 0));
  const largest = Math.max(...logits);
  const masses = logits.map((logit) => (temperature === 0 ? Number(logit === largest) : Math.exp((logit - largest) / temperature)));
  const total = masses.reduce((sum, mass) => sum + mass);
  return masses.map((mass) => mass / total);
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}
