#!/usr/bin/env node
/** The command line: one file a verb in src/cli, each a thin call into the library. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addDemo } from "./cli/demo.js";
import { addDoctor } from "./cli/doctor.js";
import { endQuietlyOnClosedPipe, reportFailure } from "./cli/exit.js";
import { addHelp } from "./cli/help.js";
import { addOracle } from "./cli/oracle.js";
import { addSample } from "./cli/sample.js";
import { usePlatform } from "./core-module.js";
import { useCudaPlatform } from "./cuda-platform.js";
import { useGpuPlatform } from "./gpu-platform.js";
import { NO_GPU_IN_BUN } from "./platform/bun-gpu.js";
import { filePlatform } from "./platform/files.js";
import { nodeCuda } from "./platform/node-cuda.js";
import { nodeGpu } from "./platform/node-gpu.js";
import { SPEC_VERSION } from "./spec/constants.js";

// Mesa's layer that orders devices complains on stderr in each process without a desktop. It does not change which are there.
process.env["NODEVICE_SELECT"] ??= "1";
usePlatform(filePlatform("node"));
if (!("bun" in process.versions || "deno" in process.versions)) useCudaPlatform(nodeCuda());
useGpuPlatform("bun" in process.versions ? NO_GPU_IN_BUN : nodeGpu);

// One folder above this file, as source and as built.
const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };

const AFTER_HELP = `
Exit codes: 0 right; 1 wrong: a row without a token, a backend that is missing or
gives a wrong answer; 2 misuse: bad arguments, files that cannot be used.

Examples:
  $ flash-sampling demo
  $ flash-sampling help sample`;

const program = new Command("flash-sampling")
  .description(`Exact sampling from LM heads: one seed, one token, on every backend (rule ${SPEC_VERSION}).`)
  .version(version)
  .exitOverride()
  // reportFailure says it, once and in one line.
  .configureOutput({ outputError() {} })
  .addHelpText("after", AFTER_HELP);

addSample(program, version);
addOracle(program, version);
addDoctor(program, version);
addDemo(program, version);
addHelp(program);

endQuietlyOnClosedPipe();
await program.parseAsync().catch(reportFailure);
