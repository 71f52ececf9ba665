/** Options of the verbs that call somebody's sampler. */
import type { Command } from "commander";
import { describe } from "../describe.js";
import { OPTIONAL_INPUTS, type OptionalInput } from "../verify/invariance/case.js";
import { DEFAULT_READS } from "../verify/invariance/find.js";
import { readWhole } from "./options.js";

/** A day: no sampler takes longer. */
const TIMEOUT_LIMIT = 86_400;

export function addSamplerOptions(command: Command): Command {
  return command
    .option("--server", "the command answers all calls, a line each")
    .option(
      "--reads <names>",
      `what the sampler reads beside logits, temperatures and seeds: ${OPTIONAL_INPUTS.join(", ")}; all; or none`,
      (text) => readReads(text),
      DEFAULT_READS,
    )
    .option("--timeout <s>", "seconds that a call of the sampler may take", (text) => readWhole("--timeout", text, 1, TIMEOUT_LIMIT + 1), 60);
}

/** Some of the known names, with commas. @throws RangeError for another */
export function readNames<Name extends string>(label: string, text: string, known: readonly Name[]): readonly Name[] {
  return text.split(",").map((part) => {
    const name = known.find((candidate) => candidate === part.trim());
    if (name === undefined) throw new RangeError(`"${label}" expected names from ${known.join(", ")}, got ${describe(part.trim())}`);
    return name;
  });
}

function readReads(text: string): readonly OptionalInput[] {
  if (text === "all") return OPTIONAL_INPUTS;
  return text === "none" ? [] : readNames("--reads", text, OPTIONAL_INPUTS);
}
