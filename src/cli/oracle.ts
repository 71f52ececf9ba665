/** `flash-sampling oracle`: the plain rule, slow and exact, with the numbers behind each decision. */
import type { Command } from "commander";
import type { Dtype } from "../backend.js";
import type { SampleDetail } from "../outcome.js";
import { logitOf, type LogitOf } from "../spec/logit.js";
import { tensorCoreLogitOf } from "../spec/tensor-core.js";
import { describeDraw, draw, type CheckShape, type Drawn } from "./draw.js";
import { checkPlace, explain, hex, readPlace, type Explanation, type Place } from "./explain.js";
import { addDrawOptions, readChoice, type DrawInputs } from "./options.js";
import { jsonPieces, print } from "./print.js";
import { formatTable, tableLines } from "./table.js";

/** How the logits of a head are summed: the rule's order, or as Hopper's tensor cores do (docs/spec.md, sections 4.2 and 9). */
const ARITHMETICS = { L32: logitOf, hopper: tensorCoreLogitOf } as const satisfies Record<string, LogitOf>;
type Arithmetic = keyof typeof ARITHMETICS;
const ARITHMETIC_NAMES = Object.keys(ARITHMETICS) as Arithmetic[];

interface OracleInputs extends DrawInputs {
  readonly arithmetic: Arithmetic;
  readonly explain?: Place;
  readonly json?: boolean;
}

const EXAMPLES = `
Scores are logit + temperature * Gumbel noise. scoreBits is the score as the
rule compares it: a signed 64-bit integer.

Examples:
  $ flash-sampling oracle --weights model.safetensors --hidden h.npy --seed 42
  $ flash-sampling oracle --logits logits.npy --seed 42 --num-samples 4 --json
  $ flash-sampling oracle --logits logits.npy --seed 42 --explain 0:17
  $ flash-sampling oracle --weights model.safetensors --hidden h.npy \\
      --seed 42 --arithmetic hopper --json`;

export function addOracle(program: Command): void {
  const command = program.command("oracle").description("draw by the plain rule and show score, runner-up and margin");
  addDrawOptions(command)
    .option(
      "--arithmetic <name>",
      "sums behind a head's logits: L32, the rule's, or hopper, those of Hopper tensor cores (bf16 and f16 heads)",
      (text) => readChoice("--arithmetic", text, ARITHMETIC_NAMES),
      "L32",
    )
    .option("--explain <row:token>", "instead, each number behind this token's score (ROW:TOKEN:SAMPLE for a later sample)", readPlace)
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((inputs: OracleInputs) => oracle(inputs));
}

async function oracle(inputs: OracleInputs): Promise<void> {
  const place = inputs.explain;
  const sum = ARITHMETICS[inputs.arithmetic];
  const check: CheckShape = (rowCount, vocabSize, dtype) => {
    checkArithmetic(inputs.arithmetic, dtype);
    if (place !== undefined) checkPlace(place, rowCount, vocabSize, inputs.numSamples);
  };
  const drawn = await draw(inputs, "reference", true, check, sum);
  const explanation = place === undefined ? null : await explain(place, inputs, drawn, sum);
  await print(inputs.json ? toJson(inputs, drawn, explanation) : explanation === null ? toTable(inputs, drawn) : [toList(inputs.temperature, explanation)]);
}

function checkArithmetic(arithmetic: Arithmetic, dtype: Dtype | null): void {
  if (arithmetic === "L32" || dtype === "bf16" || dtype === "f16") return;
  throw new RangeError(`"--arithmetic" expected L32 for ${dtype === null ? "given logits" : `weights of ${dtype}`}, got ${arithmetic}`);
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

function toJson(inputs: OracleInputs, drawn: Drawn, explanation: Explanation | null): Iterable<string> {
  const head = { ...describeDraw(inputs, drawn), arithmetic: drawn.dtype === null ? null : inputs.arithmetic };
  return jsonPieces(head, "rows", jsonRecords(inputs, drawn), { ...(explanation && { explanation }) });
}

function* jsonRecords({ numSamples }: OracleInputs, { result }: Drawn): Generator<[string]> {
  for (const [index, detail] of result.details!.entries()) yield [JSON.stringify(record(detail, index, numSamples))];
}

function* toTable({ numSamples }: OracleInputs, { result }: Drawn): Generator<string> {
  const rows = { [Symbol.iterator]: () => tableRows(result.details!, numSamples) };
  for (const line of tableLines(rows)) yield `${line}\n`;
}

function* tableRows(details: readonly SampleDetail[], numSamples: number): Generator<string[]> {
  yield ["row", ...(numSamples > 1 ? ["sample"] : []), "token", "score", "scoreBits", "runnerUp", "margin", "status"];
  for (const [index, detail] of details.entries()) {
    const { row, sample, token, score, scoreBits, runnerUp, margin, status } = record(detail, index, numSamples);
    yield [
      ...[row, ...(sample === undefined ? [] : [sample]), token].map(String),
      ...[score?.toFixed(6) ?? "-", scoreBits ?? "-", runnerUp < 0 ? "-" : String(runnerUp), margin?.toFixed(6) ?? "-", status],
    ];
  }
}

function toList(temperature: number, explanation: Explanation): string {
  const { row, token, sample, sequence, position, key, counter, high, low, leadingZeros, gamma, gumbel, logitBits, logit, z, tau, scoreBits, score, winner, status, behind } = explanation;
  const lines: [name: string, value: string, meaning: string][] = [
    ["token", `${token}`, `row ${row}, sample ${sample}, sequence ${sequence}, position ${position}`],
    ["key", key, "of Philox: the seed's halves"],
    ["counter", counter, `output word ${token % 4} of it is hi; lo has the next purpose`],
    ["hi, lo", `${high} ${low}`, "the token's random words"],
    ["J", `${leadingZeros}`, "leading zeros of hi"],
    ["gamma", gamma, `Gumbel noise ${gumbel}`],
    ["logit", logitBits ?? "-", logitBits === null ? "not one f32: scaled group sums" : `${logit}`],
    ["Z", z, "the logit, Q31.32"],
    ["tau", hex(tau, 8), `temperature ${temperature}${tau / 2 ** 24 === temperature ? "" : `, used as ${tau / 2 ** 24}`}`],
    ["S", scoreBits, status === "invalid" ? "invalid: no token of this row is drawn" : score === null ? "masked: never drawn" : `score ${score}`],
    ["behind", behind === null ? "-" : `${behind}`, winner < 0 ? `the row has no winner: ${status}` : winner === token ? "it is the winner" : `logits behind the winner, token ${winner}`],
  ];
  return `${formatTable(lines, ["left", "left", "left"])}\n`;
}
