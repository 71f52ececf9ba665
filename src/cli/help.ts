/** `flash-sampling help`: commander's own answers a name it does not know with all of its help. */
import type { Command } from "commander";

export function addHelp(program: Command): void {
  program
    .helpCommand(false)
    .command("help [command]")
    .description("display help for command")
    .action(async (name?: string) => {
      const command = name === undefined ? program : program.commands.find((candidate) => candidate.name() === name);
      if (command !== undefined) command.help();
      // Refused as that command itself would be, with the name it may have meant.
      await program.parseAsync([name!], { from: "user" });
    });
}
