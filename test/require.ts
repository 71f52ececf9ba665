/**
 * Skips by name. What a machine may lack has a name here; a test file that needs it asks for it at the top level:
 *
 *   import { unavailable } from "./require.js";
 *   const reason = await entry.probe();               // null when it can run, else why not
 *   describe.skipIf(unavailable("wasm-relaxed", reason))("wasm-relaxed", () => { ... });
 *
 * A skip shows up as a test "wasm-relaxed: <reason>" in the summary. REQUIRE=wasm-relaxed,deno turns the skip of a named
 * one into a failure, and a name that no test file asked for as well. Call it while tests are collected (top level or a
 * describe body), never inside a test.
 */
import { test } from "vitest";
import { readRequired, type Requirement } from "./requirements.js";

declare module "vitest" {
  interface TaskMeta {
    /** set on the entries that unavailable() makes */
    requirement?: { readonly name: Requirement; readonly reason: string | null };
  }
}

const required = readRequired(process.env["REQUIRE"]);

/** Whether to skip. reason: null when the named thing is there, else why it is not, in one line. */
export function unavailable(name: Requirement, reason: string | null): boolean {
  const meta = { requirement: { name, reason } };
  if (required.has(name)) {
    test(`REQUIRE ${name}`, { meta }, () => {
      if (reason !== null) throw new Error(`REQUIRE expected ${name}, got none: ${reason}`);
    });
  } else if (reason !== null) {
    test.skip(`${name}: ${reason}`, { meta });
  }
  return reason !== null;
}
