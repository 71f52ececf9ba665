/** Trials as a table in Markdown. No times: they are the machine's. */
import type { MethodResult, Trial } from "./trial.js";

const NAMES = ["FlashInfer", "vLLM", "FlashSampling"] as const;

/** In whole powers of ten where it is one. */
function drawsText(draws: number): string {
  return draws >= 1000 ? draws.toLocaleString("en-US") : String(draws);
}

const missed = ({ caught, mustCatch }: MethodResult): string => (mustCatch === true && !caught ? "**missed**" : "");

function checkCell(result: MethodResult): string {
  return result.caught ? `draw ${drawsText(result.draws)}, ${result.input}` : missed(result);
}

function gofCell(result: MethodResult): string {
  return result.caught ? `${drawsText(result.draws)}, ${result.input}` : missed(result);
}

function invarianceCell(result: MethodResult): string {
  const [first, ...others] = result.by;
  return first === undefined ? missed(result) : others.length === 0 ? first : `${first} and ${others.length} more`;
}

/** A line a trial. */
export function tableOf(trials: readonly Trial[]): string {
  const head = ["sampler", "fault", "check", "gof", "invariance", ...NAMES];
  const rows = trials.map(({ name, fault, check, gof, invariance, peers }) => [
    name,
    fault,
    checkCell(check),
    gofCell(gof),
    invarianceCell(invariance),
    ...NAMES.map((peer) => (peers[peer] === null ? "" : "caught")),
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** How many mutants each catches. */
export function totalsOf(trials: readonly Trial[]): string {
  const mutants = trials.filter(({ name }) => name !== "correct");
  const count = (is: (trial: Trial) => boolean) => mutants.filter(is).length;
  const counts = [
    `check ${count(({ check }) => check.caught)}`,
    `gof ${count(({ gof }) => gof.caught)}`,
    `invariance ${count(({ invariance }) => invariance.caught)}`,
    `gof or invariance ${count(({ gof, invariance }) => gof.caught || invariance.caught)}`,
    ...NAMES.map((peer) => `${peer} ${count(({ peers }) => peers[peer] !== null)}`),
    `any of the three peers ${count(({ peers }) => NAMES.some((peer) => peers[peer] !== null))}`,
  ];
  return `Of ${mutants.length} mutants: ${counts.join(", ")}.`;
}
