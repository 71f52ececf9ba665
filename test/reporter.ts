/**
 * The summary after a run: what was skipped and why, and as the last line "N passed, N failed, N skipped".
 * A file that cannot be loaded, an error outside of tests, and a required name that no test asked for count as failed.
 */
import type { Reporter, SerializedError, TestCase, TestModule, Vitest } from "vitest/node";
import { readRequired, type Requirement } from "./requirements.js";

export default class SummaryReporter implements Reporter {
  #required: ReadonlySet<Requirement> = new Set();
  #vitest!: Vitest;

  onInit(vitest: Vitest): void {
    this.#required = readRequired(process.env["REQUIRE"]);
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    const isWholeRun = modules.length === (await this.#vitest.globTestSpecifications()).length;
    const unasked = isWholeRun ? [...this.#required].filter((name) => !tests.some((test) => test.meta().requirement?.name === name)) : [];
    const suites = modules.flatMap((module) => [module, ...module.children.allSuites()]);
    const brokenSuites = suites.filter((suite) => suite.errors().length > 0).length;
    const passed = count("passed");
    const failed = count("failed") + count("pending") + brokenSuites + unhandledErrors.length + unasked.length;
    const lines = [
      ...skipLines(tests),
      ...unasked.map((name) => `failed: REQUIRE names ${name}, but no test asked for it`),
      ...(passed + failed === 0 ? ["failed: no test ran"] : []),
      `${passed} passed, ${failed} failed, ${count("skipped")} skipped`,
    ];
    if (failed > 0 || passed === 0) process.exitCode = 1;
    process.stdout.write(`\n${lines.join("\n")}\n`);
  }
}

/** One line a missing thing and file; then the skips that such a line does not explain. */
function skipLines(tests: readonly TestCase[]): string[] {
  const missing = tests.filter((test) => test.meta().requirement?.reason);
  const explained = new Set(missing.map((test) => test.module.moduleId));
  const skipped = tests.filter((test) => test.result().state === "skipped");
  return skipped.flatMap((test) => {
    const { name, reason } = test.meta().requirement ?? {};
    const file = test.module.relativeModuleId;
    if (reason) return [`skipped ${name}: ${reason} (${file})`];
    const note = skipNote(test);
    return note === undefined && explained.has(test.module.moduleId) ? [] : [`skipped test ${test.fullName}: ${note ?? "no reason given"} (${file})`];
  });
}

function skipNote(test: TestCase): string | undefined {
  const result = test.result();
  return result.state === "skipped" ? result.note : undefined;
}
