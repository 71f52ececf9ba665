/** The verb that nobody types: invariance --module starts it, as a process of its own. */
import type { Command } from "commander";
import { hostModule } from "../platform/command/module-host.js";

const NAME = "module-host";

/** Arguments of this runtime that start it. */
export function moduleHost(file: string): string[] {
  return [...process.execArgv, process.argv[1]!, NAME, "--", file];
}

export function addModuleHost(program: Command): void {
  program.command(`${NAME} <file>`, { hidden: true }).action((file: string) => hostModule(file));
}
