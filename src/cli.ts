#!/usr/bin/env node
/** The command line: one file a verb in src/cli, each a thin call into the library. */
import { Command } from "commander";
import { addCheck } from "./cli/check.js";
import { addCorpus } from "./cli/corpus.js";
import { addDemo } from "./cli/demo.js";
import { addDoctor } from "./cli/doctor.js";
import { endQuietlyOnClosedPipe, reportFailure } from "./cli/exit.js";
import { addGof } from "./cli/gof.js";
import { addHelp } from "./cli/help.js";
import { addInvariance } from "./cli/invariance.js";
import { commandOf } from "./cli/labels.js";
import { addModuleHost } from "./cli/module-host.js";
import { addOracle } from "./cli/oracle.js";
import { addReplay } from "./cli/replay.js";
import { addReport } from "./cli/report.js";
import { addSample } from "./cli/sample.js";
import { useThisProcess } from "./platform/this-process.js";
import { SPEC_VERSION } from "./spec/constants.js";
import { VERSION } from "./version.js";

// Mesa's layer that orders devices complains on stderr in each process without a desktop. It does not change which are there.
process.env["NODEVICE_SELECT"] ??= "1";
useThisProcess();

const AFTER_HELP = `
Exit codes: 0 right; 1 wrong: a row without a token, a backend that is missing
or gives a wrong answer, a sampler that draws wrongly; 2 misuse: bad arguments,
files that cannot be used.

Examples:
  $ flash-sampling demo
  $ flash-sampling help sample`;

const program = new Command("flash-sampling")
  .description(`Exact sampling from LM heads: one seed, one token, on every backend (rule ${SPEC_VERSION}).`)
  .version(VERSION)
  .exitOverride()
  // reportFailure says it, once and in one line.
  .configureOutput({ outputError() {} })
  .addHelpText("after", AFTER_HELP);

addSample(program);
addCheck(program);
addReplay(program);
addCorpus(program);
addOracle(program);
addReport(program);
addInvariance(program);
addModuleHost(program);
addGof(program);
addDoctor(program);
addDemo(program);
addHelp(program);

endQuietlyOnClosedPipe();
await program.parseAsync().catch((error: unknown) => reportFailure(error, commandOf(program, process.argv.slice(2))));
