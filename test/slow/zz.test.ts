import { describe, expect, test } from "vitest";
import { unavailable } from "../require.js";
describe.skipIf(unavailable("deno", "no deno"))("deno", () => { test("a", () => expect(1).toBe(1)); });
describe.skipIf(unavailable("bun", null))("bun", () => { test("a", () => expect(1).toBe(1)); });
test("note", (c) => c.skip("because"));
if (process.env.Q) throw new Error("at load");
