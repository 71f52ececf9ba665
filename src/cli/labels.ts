/** The library's errors name its own options; whoever typed a command knows those of the command line. */
import type { Command } from "commander";

/** Options here that stand for one of the library, where it is not the same name with dashes: the given one is meant. */
const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  hiddenStates: ["--hidden"],
  unpaddedSize: ["--vocab-size"],
  engineOptions: ["--engine-option"],
  seed: ["--seeds", "--seed"],
  temperature: ["--temperatures", "--temperature"],
  position: ["--positions", "--position"],
  sequence: ["--sequences", "--sequence"],
};

const dashed = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The command that arguments ask for, as far as they name one. */
export function commandOf(program: Command, args: readonly string[]): Command {
  let command = program;
  for (const arg of args) {
    const named = command.commands.find((candidate) => candidate.name() === arg);
    if (named === undefined) break;
    command = named;
  }
  return command;
}

/** The message with the option in its label as it is typed; as it is, where the command has no such option. */
export function withOption(message: string, command: Command): string {
  const [label, name] = /^"([A-Za-z]+)(?=(?:\[\d+\])?" expected )/.exec(message) ?? [];
  if (label === undefined || isPlace(name!, command)) return message;
  const known = (OPTIONS[name!] ?? [dashed(name!)]).flatMap((long) => command.options.filter((option) => option.long === long));
  const option = known.find((candidate) => command.getOptionValueSource(candidate.attributeName()) === "cli") ?? known.at(-1);
  return option === undefined ? message : `"${option.long}${message.slice(label.length)}`;
}

/** Files are labels of errors as well, and may be called like an option. */
function isPlace(name: string, command: Command): boolean {
  return Object.values(command.opts<Record<string, unknown>>()).flat().includes(name) || command.args.includes(name);
}
