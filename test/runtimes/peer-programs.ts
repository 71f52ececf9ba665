/** The programs of an app's folder, run to their end by a runtime. */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { driverVariables } from "../swiftshader.js";
import type { Questions, Report } from "./report.js";
import type { SmallOutcome } from "./small-head.js";

const TIMEOUT = 240_000;

export interface Ended {
  /** null when a signal ended it, the one after TIMEOUT among them */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** of the runtime */
  readonly options?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** Runs a main of an app's folder to its end, with a home of its own, and no variables but those that name a driver. */
export function run(program: string, folder: string, [main, ...args]: readonly string[], { options = [], variables = driverVariables() }: RunOptions = {}): Promise<Ended> {
  const env = { PATH: "/usr/bin:/bin", HOME: join(folder, "home"), DENO_DIR: join(folder, "deno"), NO_COLOR: "1", ...variables };
  return new Promise((resolve) => {
    const child = execFile(program, [...options, join(folder, main!), ...args], { cwd: folder, env, maxBuffer: 1 << 24, timeout: TIMEOUT }, (_, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

/** The outcome of sampling the small head on a backend, in a process that must end by itself with code 0. */
export async function outcome(program: string, folder: string, backend: string, options?: RunOptions): Promise<SmallOutcome & { readonly stderr: string }> {
  const { code, stdout, stderr } = await run(program, folder, ["main-ends.js", backend, "disposed"], options);
  expect(code, stderr).toBe(0);
  return { ...(JSON.parse(stdout) as SmallOutcome), stderr };
}

export async function reportOf(program: string, folder: string, questions: Questions, options?: RunOptions): Promise<Report> {
  const { code, stdout, stderr } = await run(program, folder, ["main-console.js", JSON.stringify(questions)], options);
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout) as Report;
}

/** Tests that a program ends as it should that samples on a backend. folder, and tokens, the small head's, are known once tests run. */
export function itEnds(program: string, backend: string, folder: () => string, tokens: () => readonly number[] | undefined): void {
  it.each([
    { end: "kept", how: "a sampler is never disposed and samples still", code: 0, stderr: "" },
    { end: "exit", how: "process.exit() is called while it samples", code: 0, stderr: "" },
    { end: "thrown", how: "an error is thrown while it samples", code: 1, stderr: "Error: thrown mid-way" },
  ])("ends with code $code when $how", { timeout: TIMEOUT }, async ({ end, code, stderr }) => {
    const ended = await run(program, folder(), ["main-ends.js", backend, end]);
    expect(ended).toMatchObject({ code, stderr: expect.stringContaining(stderr) });
    expect(JSON.parse(ended.stdout)).toEqual({ backend, tokens: tokens() });
  });
}
