/** What the argument parser refuses, in the words of all other refusals: `"label" expected ..., got ...`. */
import type { Command, CommanderError } from "commander";
import { meant } from "./options.js";

/** How the parser words each kind of refusal, and how it is said here. Its hint at a similar name stands behind. */
const WORDINGS: Readonly<Record<string, readonly [pattern: RegExp, toText: (...parts: string[]) => string]>> = {
  "commander.unknownCommand": [/^unknown command '(.*)'$/s, (name) => `"${name}" expected a command, got an unknown one`],
  "commander.unknownOption": [/^unknown option '(.*)'$/s, (name) => `"${name}" expected an option of this command, got an unknown one`],
  "commander.optionMissingArgument": [/^option '(?:-\w, )?(--[\w-]+) (.*)' argument missing$/, (name, value) => `"${name}" expected a value, ${value}, got none`],
  "commander.missingMandatoryOptionValue": [/^required option '(?:-\w, )?(--[\w-]+) (.*)' not specified$/, (name, value) => `"${name}" expected a value, ${value}: it is required, got none`],
  "commander.missingArgument": [/^missing required argument '(.*)'$/, (name) => `"${name}" expected a value, got none`],
  "commander.excessArguments": [/^too many arguments for '(.*)'\. Expected (\d+) arguments? but got (\d+)\.$/, (name, expected, got) => `"${name}" expected ${expected === "0" ? "no argument beside its options" : countOf(expected!)}, got ${got}`],
};

/** command: that was asked for, whose options and commands may be meant */
export function usageMessage({ code, message }: CommanderError, command?: Command): string {
  const [, text, similar] = /^(?:error: )?(.*?)(?:\n\(Did you mean (.*)\?\))?$/s.exec(message)!;
  const [pattern, toText] = WORDINGS[code] ?? [];
  const parts = pattern?.exec(text!);
  // A wording of another version of the parser still says what is wrong.
  const said = parts === null || parts === undefined ? text! : toText!(...parts.slice(1));
  // A longer name that was begun is nearer than one that looks alike.
  const begun = parts === null || parts === undefined || command === undefined ? "" : meant(parts[1]!.replace(/=.*$/s, ""), namesOf(code, command));
  if (begun !== "") return `${said}${begun}`;
  if (similar !== undefined) return `${said} (did you mean ${similar}?)`;
  return code === "commander.unknownCommand" || code === "commander.unknownOption" ? `${said} (--help lists them)` : said;
}

function namesOf(code: string, command: Command): readonly string[] {
  if (code === "commander.unknownOption") return command.options.flatMap(({ long, hidden }) => (hidden || long === undefined ? [] : [long]));
  return code === "commander.unknownCommand" ? command.createHelp().visibleCommands(command).map((candidate) => candidate.name()) : [];
}

const countOf = (count: string): string => `${count} argument${count === "1" ? "" : "s"}`;
