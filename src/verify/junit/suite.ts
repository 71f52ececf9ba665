/** A suite of JUnit, before it is written: test cases, and what they were run on. */

export interface JunitCase {
  readonly name: string;
  /** why it was not asked */
  readonly skipped?: string;
  /** lines: what is wrong, at least one; the first alone is its message */
  readonly failure?: { readonly type: "wrong" | "failed" | "broken" | "missing"; readonly lines: readonly string[] };
  readonly output?: string;
}

export interface JunitSuite {
  /** the verb that found it */
  readonly verb: string;
  /** behind the suite's name: what must not be overlooked */
  readonly remark: string;
  readonly tests: number;
  readonly failures: number;
  readonly skipped: number;
  /** null, undefined: there is none */
  readonly properties: readonly (readonly [name: string, value: string | number | boolean | null | undefined])[];
  readonly cases: Iterable<JunitCase>;
  /** the summary, in lines */
  readonly output: string;
}

/** The parts of a suite that its cases tell. */
export function suiteOfCases(verb: string, cases: readonly JunitCase[]): Omit<JunitSuite, "properties" | "output"> {
  const count = (part: "failure" | "skipped") => cases.filter((testCase) => testCase[part] !== undefined).length;
  return { verb, remark: "", tests: cases.length, failures: count("failure"), skipped: count("skipped"), cases };
}
