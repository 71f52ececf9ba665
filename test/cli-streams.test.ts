/** Much of it: results longer than a string may be, streams that do not end, and the widths of a terminal. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { DETAIL_LIMIT, DRAW_LIMIT } from "../src/arguments.js";
import { barLine } from "../src/cli/progress.js";
import { jsonPieces } from "../src/cli/print.js";
import { formatTable } from "../src/cli/table.js";
import { sampleLogits } from "../src/index.js";
import { B, useCli, V, writeInputs } from "./cli-process.js";
import { bytesOf, npy, npyDict } from "./head-fixtures.js";

const { folder, run } = useCli();
const { logits } = writeInputs(folder);
const LOGITS = ["--logits", "logits.npy", "--seed", "1"];
/** More rows than a call takes arguments. */
const ROWS = 130_000;
/** Rows whose output no pipe holds. */
const SOME_ROWS = 20_000;
for (const [name, rows] of [["rows.npy", ROWS], ["some.npy", SOME_ROWS]] as const) {
  writeFileSync(join(folder, name), npy(npyDict("<f4", `(${rows}, 1)`), new Uint8Array(4 * rows)));
}

async function refused(args: readonly string[], options = {}): Promise<string> {
  const { code, stdout, stderr } = await run(args, options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^flash-sampling: "[^\n]+\n$/);
  return stderr;
}

describe("many draws", () => {
  test("as a table, with columns as wide as the last row needs", async () => {
    const { code, stdout, stderr } = await run(["oracle", "--logits", "rows.npy", "--seed", "1"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const lines = stdout.split("\n");
    expect(lines).toHaveLength(ROWS + 2);
    expect(lines[0]).toMatch(/^ {3}row {2}token /);
    expect(lines[1]).toMatch(/^ {5}0 {2} {4}0 /);
    expect(lines[ROWS]).toMatch(/^129999 {2} {4}0 /);
  });

  test("of sample, as lines and as JSON: the tokens of the API", async () => {
    const numSamples = 20_001;
    const { tokens } = await sampleLogits({ logits, vocabSize: V, seed: 1n, numSamples });
    const rows = Array.from({ length: B }, (_, row) => Array.from(tokens.subarray(row * numSamples, (row + 1) * numSamples)));
    const [lines, json] = await Promise.all([[], ["--json"]].map((more) => run(["sample", ...LOGITS, "--num-samples", String(numSamples), ...more])));
    expect(lines!.stdout).toBe(rows.map((row) => `${row.join(" ")}\n`).join(""));
    expect(JSON.parse(json!.stdout).rows).toEqual(rows.map((tokens, row) => ({ row, tokens })));
    expect(json!.stdout.split("\n")).toHaveLength(2);
  });

  test("a reader that leaves in the middle is no error", async () => {
    for (const args of [["oracle", "--logits", "some.npy", "--seed", "1", "--json"], ["oracle", "--logits", "some.npy", "--seed", "1"], ["sample", "--logits", "rows.npy", "--seed", "1"]]) {
      const { code, stderr } = await run(args, { onStart: (child) => child.stdout!.once("data", () => child.stdout!.destroy()) });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  });

  test.each([
    ["sample", DRAW_LIMIT],
    ["oracle", DETAIL_LIMIT],
  ])("%s: too many are refused before the head is opened", async (verb, limit) => {
    const args = [verb, "--weights", "missing.safetensors", "--hidden", "rows.npy", "--seed", "1", "--num-samples"];
    expect(await refused([...args, String(Math.floor(limit / ROWS) + 1)])).toContain(`"--num-samples" expected at most ${limit} draws`);
    expect(await refused([...args, String(Math.floor(limit / ROWS))])).toContain("missing.safetensors");
  });
});

describe("documents and tables", () => {
  test.each([[[]], [[["1"]]], [[["{", "}"], ["[", "]"]]]])("the list %j", (items) => {
    const document = JSON.parse([...jsonPieces({ a: "x" }, "list", items, { b: null, c: { d: 1 } })].join(""));
    expect(document).toEqual({ a: "x", list: items.map((item) => JSON.parse(item.join(""))), b: null, c: { d: 1 } });
  });

  test("rows of different lengths, either side", () => {
    expect(formatTable([["a", "bbb", "c"], ["aaa", "b"]], ["left"])).toBe("a    bbb  c\naaa    b");
    expect(formatTable([])).toBe("");
  });
});

describe("stdin", () => {
  const read = (stdin: Uint8Array, isStdinEndless = true) => refused(["sample", "--logits", "-", "--seed", "1"], { stdin, isStdinEndless });
  const array = readFileSync(join(folder, "logits.npy"));

  test.each([
    ["no array", Buffer.from("yes\nyes\nyes\nyes\n"), "expected a .npy file"],
    ["a head", readFileSync(join(folder, "head.safetensors")), "expected a .npy file"],
    ["a version that is none", Buffer.concat([array.subarray(0, 6), Buffer.from([9, 0]), array.subarray(8)]), "got 9.0"],
    ["a header that is none", npy("{'descr': 'what'}", new Uint8Array(64)), "expected a .npy header with"],
    ["a header that is longer than any", Buffer.concat([array.subarray(0, 6), Buffer.from([2, 0, 0, 0, 0, 255]), Buffer.alloc(70_000)]), "expected a .npy header of"],
    ["a type that is none", npy(npyDict("<f3", "(2,)"), new Uint8Array(64)), "got the type"],
    ["an array that is too large", npy(npyDict("<f4", "(99999999999,)"), new Uint8Array(64)), "expected an array of at most 4294967296 bytes"],
    ["sizes whose product is past all numbers", npy(npyDict("<f4", `(${"9007199254740991,".repeat(32)})`), new Uint8Array(64)), "expected "],
    ["more than the header states", Buffer.concat([array, array]), `expected the ${array.length} bytes that its header states, got more`],
  ])("%s is refused while the stream goes on", async (_, bytes, message) => {
    const line = await read(bytes);
    expect(line).toContain('"stdin" expected');
    expect(line).toContain(message);
  });

  test.each([0, 5, 11, 40, array.length - 1])("an end after %i bytes", async (length) => {
    expect(await read(array.subarray(0, length), false)).toContain('"stdin" expected');
  });

  test("one byte more at its end", async () => {
    expect(await read(Buffer.concat([array, Buffer.alloc(1)]), false)).toContain("got more");
  });

  test.each([1, 10, 13, 100, 131])("an array that comes in pieces of %i bytes", async (size) => {
    const { code, stdout } = await run(["sample", "--logits", "-", "--seed", "1"], {
      isStdinEndless: true,
      stdin: array.subarray(0, size),
      onStart: (child) => {
        let sent = size;
        const send = () => {
          if (sent >= array.length) return child.stdin!.end();
          child.stdin!.write(array.subarray(sent, (sent += size)));
          setImmediate(send);
        };
        send();
      },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: (await run(["sample", ...LOGITS])).stdout });
  });

  test("in the other versions and types, as a file", async () => {
    const doubles = npy(npyDict("<f8", `(${B}, ${V})`), bytesOf(Float64Array.from(logits)));
    writeFileSync(join(folder, "doubles.npy"), doubles);
    const [piped, file] = await Promise.all([run(["sample", "--logits", "-", "--seed", "1"], { stdin: doubles }), run(["sample", "--logits", "doubles.npy", "--seed", "1"])]);
    expect(piped).toEqual(file);
    expect(piped!.code).toBe(0);
  });
});

describe("the progress of a load", () => {
  const widths = Array.from({ length: 200 }, (_, column) => column + 1);
  const shown = ({ format, barsize }: { format: string; barsize: number }) => format.replace("{bar}", "#".repeat(barsize)).replace("{percentage}", "100");

  test.each([1, 34e6, 1e9, 123_456_789_012])("of %d bytes fits every width that numbers fit", (totalBytes) => {
    for (const columns of widths) expect(shown(barLine("weights", totalBytes, columns)).length).toBeLessThanOrEqual(Math.max(columns, 4));
    expect(shown(barLine("weights", totalBytes, 10))).toBe("100%");
    expect(shown(barLine("weights", totalBytes, 39))).toBe("weights 100%");
    expect(shown(barLine("weights", totalBytes, 40))).toMatch(/^weights \[#+\] 100% of \d+ MB$/);
    expect(shown(barLine("weights", totalBytes, 80))).toContain(`[${"#".repeat(30)}]`);
  });
});
