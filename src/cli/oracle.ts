/** `flash-sampling oracle`: the plain rule, slow and exact, with the numbers behind each decision. */
import type { Command } from "commander";
import type { SampleDetail } from "../outcome.js";
import { describeDraw, draw, type Drawn } from "./draw.js";
import { checkPlace, explain, hex, readPlace, type Explanation, type Place } from "./explain.js";
import { addDrawOptions, type DrawInputs } from "./options.js";
import { formatTable } from "./table.js";

interface OracleInputs extends DrawInputs {
  readonly explain?: Place;
  readonly json?: boolean;
}

const EXAMPLES = `
Scores are logit + temperature * Gumbel noise. scoreBits is the score as the
rule compares it: a signed 64-bit integer.

Examples:
  $ flash-sampling oracle --weights model.safetensors --hidden h.npy --seed 42
  $ flash-sampling oracle --logits logits.npy --seed 42 --num-samples 4 --json
  $ flash-sampling oracle --logits logits.npy --seed 42 --explain 0:17`;

export function addOracle(program: Command, version: string): void {
  const command = program.command("oracle").description("draw by the plain rule and show score, runner-up and margin");
  addDrawOptions(command)
    .option("--explain <row:token>", "instead, each number behind this token's score (ROW:TOKEN:SAMPLE for a later sample)", readPlace)
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((inputs: OracleInputs) => oracle(inputs, version));
}

async function oracle(inputs: OracleInputs, version: string): Promise<void> {
  const place = inputs.explain;
  const drawn = await draw(inputs, "reference", true, (rowCount, vocabSize) => {
    if (place !== undefined) checkPlace(place, rowCount, vocabSize, inputs.numSamples);
  });
  const explanation = place === undefined ? null : await explain(place, inputs, drawn);
  process.stdout.write(`${inputs.json ? toJson(version, inputs, drawn, explanation) : explanation === null ? toTable(inputs, drawn) : toList(explanation)}\n`);
}

/** One draw as the documents name it; sample only where a row has several. */
function record({ token, score, scoreBits, runnerUp, margin, status }: SampleDetail, index: number, numSamples: number) {
  return {
    row: Math.floor(index / numSamples),
    ...(numSamples > 1 && { sample: index % numSamples }),
    token,
    score,
    scoreBits: scoreBits === null ? null : hex(scoreBits, 16),
    runnerUp,
    margin,
    status,
  };
}

function toJson(version: string, inputs: OracleInputs, drawn: Drawn, explanation: Explanation | null): string {
  const rows = drawn.result.details!.map((detail, index) => record(detail, index, inputs.numSamples));
  return JSON.stringify({ ...describeDraw(version, inputs, drawn), rows, ...(explanation && { explanation }) });
}

function toTable({ numSamples }: OracleInputs, { result }: Drawn): string {
  const records = result.details!.map((detail, index) => record(detail, index, numSamples));
  const lines = records.map(({ row, sample, token, score, scoreBits, runnerUp, margin, status }) => [
    ...[row, ...(sample === undefined ? [] : [sample]), token].map(String),
    ...[score?.toFixed(6) ?? "-", scoreBits ?? "-", runnerUp < 0 ? "-" : String(runnerUp), margin?.toFixed(6) ?? "-", status],
  ]);
  return formatTable([["row", ...(numSamples > 1 ? ["sample"] : []), "token", "score", "scoreBits", "runnerUp", "margin", "status"], ...lines]);
}

function toList(explanation: Explanation): string {
  const { row, token, sample, high, low, leadingZeros, gamma, gumbel, logitBits, logit, z, tau, scoreBits, score, winner, behind } = explanation;
  const lines: [name: string, value: string, meaning: string][] = [
    ["token", `${token}`, `row ${row}, sample ${sample}`],
    ["hi, lo", `${high} ${low}`, "the token's random words"],
    ["J", `${leadingZeros}`, "leading zeros of hi"],
    ["gamma", gamma, `Gumbel noise ${gumbel}`],
    ["logit", logitBits ?? "-", logitBits === null ? "not one f32: scaled group sums" : `${logit}`],
    ["Z", z, "the logit, Q31.32"],
    ["tau", hex(tau, 8), `temperature ${tau / 2 ** 24}`],
    ["S", scoreBits, score === null ? "masked: never drawn" : `score ${score}`],
    ["behind", behind === null ? "-" : `${behind}`, winner < 0 ? "the row has no winner" : winner === token ? "it is the winner" : `logits behind the winner, token ${winner}`],
  ];
  return formatTable(lines, ["left", "left", "left"]);
}
