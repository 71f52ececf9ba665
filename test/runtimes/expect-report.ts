/** What tests of a runtime ask of the report that a program of it made. */
import { expect } from "vitest";
import type { BackendReport, Report } from "./report.js";

/** Asserts that the report is whole and without a difference; backends: those that must have run, each on more than so many known draws. */
export function expectRight(report: Report, backends: readonly string[], moreThan = 200): void {
  expect(report.oracleDifferences).toEqual([]);
  for (const { name, obstacle, draws, differences } of report.backends) {
    if (backends.includes(name)) expect(obstacle, name).toBeNull();
    if (obstacle === null) expect(draws, name).toBeGreaterThan(moreThan);
    expect(differences.slice(0, 5), name).toEqual([]);
  }
  expect(report.backends.map(({ name }: BackendReport) => name)).toEqual(expect.arrayContaining([...backends]));
}

/** Asserts that a backend does not run, and what it says of that. */
export function expectObstacle(report: Report, backend: string, obstacle: string | RegExp): void {
  expect(report.backends.find(({ name }) => name === backend)?.obstacle).toMatch(obstacle);
}
