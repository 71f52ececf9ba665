/** `flash-sampling sample --receipt` and `flash-sampling replay`: written whole, found again, confirmed, and every difference named. */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { BACKENDS } from "../src/index.js";
import { B, D, useCli, V, writeInputs } from "./cli-process.js";
import { bytesOf, npy, npyDict, serveRange, withServer } from "./head-fixtures.js";

const { folder, run } = useCli();
const { hiddenStates, logits } = writeInputs(folder);
const HEAD = ["--weights", "head.safetensors", "--hidden", "hidden.npy", "--seed", "42"];
const LOGITS = ["--logits", "logits.npy", "--seed", "42"];

const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const read = (name: string) => JSON.parse(textOf(name));
const write = (name: string, bytes: Uint8Array | string): void => writeFileSync(join(folder, name), bytes);
/** A receipt of these arguments, and what sample printed. */
async function receiptOf(name: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(["sample", ...args, "--receipt", name]);
  expect(code, stderr).toBe(0);
  return stdout;
}
/** The receipt again, with a change. */
function changed(name: string, changes: object): string {
  write(`changed-${name}`, JSON.stringify({ ...read(name), ...changes }));
  return `changed-${name}`;
}

beforeAll(async () => {
  await receiptOf("r.json", HEAD);
  await receiptOf("l.json", LOGITS);
});

describe("sample --receipt", () => {
  test("writes what was drawn, and prints what it prints without", async () => {
    const args = [...HEAD, "--num-samples", "2", "--temperature", "0.7", "--position", "rows"];
    const stdout = await receiptOf("written.json", args);
    expect(stdout).toBe((await run(["sample", ...args])).stdout);
    const receipt = read("written.json");
    expect(receipt).toMatchObject({ kind: "receipt", dtype: "bf16", V, D, B, seed: "42", temperature: 0.7, position: [0, 1, 2], sequence: [0, 1, 2], numSamples: 2, places: { weights: "head.safetensors", hidden: "hidden.npy" } });
    expect(receipt.draws.map(({ token }: { token: number }) => token)).toEqual(stdout.trim().split(/\s+/).map(Number));
    const { rows } = JSON.parse((await run(["oracle", ...args, "--json"])).stdout);
    expect(receipt.draws).toEqual(rows.map(({ token, scoreBits, status }: Record<string, unknown>) => ({ token, scoreBits, status })));
  });

  test("of different backends differ in one line", async () => {
    await receiptOf("one.json", [...HEAD, "--backend", "wasm"]);
    await receiptOf("other.json", [...HEAD, "--backend", "reference"]);
    const [one, other] = [textOf("one.json").split("\n"), textOf("other.json").split("\n")];
    expect(one.filter((line, index) => line !== other[index])).toEqual(['  "backend": "wasm",']);
  });

  test.each([
    ["hidden.npy", /"--receipt" expected another file than --hidden reads/],
    ["head.safetensors", /"--receipt" expected/],
    ["nowhere/r.json", /"--receipt" expected an existing folder/],
    ["-", /"--receipt" expected the path of a file to write/],
  ])("refuses %s before any work", async (place, message) => {
    const before = readdirSync(folder);
    const { code, stdout, stderr } = await run(["sample", ...HEAD, "--receipt", place]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(readdirSync(folder)).toEqual(before);
  });

  test("is another file than --out", async () => {
    const { code, stderr } = await run(["sample", ...HEAD, "--out", "same.npy", "--receipt", "./same.npy"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'flash-sampling: "--receipt" expected another file than --out writes, got ./same.npy\n' });
  });

  test("writes nothing where a row has no token, unless such rows are marked", async () => {
    const args = ["sample", "--weights", "head.safetensors", "--hidden", "nan.npy", "--seed", "1", "--receipt", "nan.json"];
    expect((await run(args)).code).toBe(1);
    expect(existsSync(join(folder, "nan.json"))).toBe(false);
    expect((await run([...args, "--on-invalid", "mark"])).code).toBe(0);
    expect(read("nan.json").draws[1]).toEqual({ token: -1, scoreBits: null, status: "invalid" });
    expect((await run(["replay", "nan.json"])).code).toBe(0);
  });

  test("refuses more draws than a receipt holds", async () => {
    const { code, stderr } = await run(["sample", ...LOGITS, "--num-samples", "400000", "--receipt", "many.json"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'flash-sampling: "--receipt" expected at most 1048576 draws, got 3 rows * 400000\n' });
  });
});

describe("replay confirms", () => {
  test.each([
    ["bf16", HEAD],
    ["int8 with scales in the file", ["--weights", "int8.safetensors", "--tensor", "w", "--scales", "s", "--hidden", "hidden.npy", "--seed", "1"]],
    ["int8 with scales in a file", ["--weights", "int8.safetensors", "--tensor", "w", "--scales", "scales.npy", "--hidden", "one-row.npy", "--seed", "1"]],
    ["logits", [...LOGITS, "--num-samples", "3", "--sequence", "9"]],
    ["marked rows", ["--logits", "masked.npy", "--seed", "3", "--on-invalid", "mark"]],
    ["a seed that was drawn", ["--logits", "logits.npy"]],
  ])("%s", async (name, args) => {
    const file = `${name.replaceAll(" ", "-")}.json`;
    await receiptOf(file, args);
    const { draws } = read(file);
    expect(await run(["replay", file, "--backend", "reference"])).toEqual({ code: 0, stdout: `reference: confirmed, ${draws.length} draws\n`, stderr: "" });
  });

  test("on every backend that runs here, and names the others", async () => {
    const { code, stdout } = await run(["replay", "r.json", "--backend", "all", "--json"]);
    const { kind, passed, input, backends } = JSON.parse(stdout);
    expect({ code, kind, passed, input }).toEqual({ code: 0, kind: "replay", passed: true, input: null });
    expect(backends.map(({ backend }: { backend: string }) => backend)).toEqual(BACKENDS.map((entry) => entry.name));
    const byName = new Map(backends.map((outcome: { backend: string }) => [outcome.backend, outcome]));
    expect(byName.get("reference")).toEqual({ backend: "reference", status: "confirmed", why: null, draw: null });
    for (const { status, why } of backends) expect(status === "skipped" ? why : status).toMatch(status === "skipped" ? /\w/ : /^confirmed$/);
  });

  test("the same values in another file: big-endian, Fortran order, f8, version 2", async () => {
    const swapped = Float32Array.from(hiddenStates);
    new Uint8Array(swapped.buffer).forEach((_, at, bytes) => at % 4 === 0 && bytes.subarray(at, at + 4).reverse());
    const columns = Float32Array.from({ length: B * D }, (_, at) => hiddenStates[(at % B) * D + Math.floor(at / B)]!);
    const others = {
      "big.npy": npy(npyDict(">f4", `(${B}, ${D})`), bytesOf(swapped)),
      "fortran.npy": npy(npyDict("<f4", `(${B}, ${D})`, "True"), bytesOf(columns)),
      "wide8.npy": npy(npyDict("<f8", `(${B}, ${D})`), bytesOf(Float64Array.from(hiddenStates))),
      "two.npy": npy(npyDict("<f4", `(${B}, ${D})`), bytesOf(hiddenStates), [2, 0]),
    };
    for (const [name, bytes] of Object.entries(others)) {
      write(name, bytes);
      expect(await run(["replay", "r.json", "--hidden", name, "--backend", "wasm"]), name).toEqual({ code: 0, stdout: `wasm: confirmed, ${B} draws\n`, stderr: "" });
    }
  });

  test("a folder that was moved, from any working directory", async () => {
    mkdirSync(join(folder, "inputs"));
    for (const name of ["head.safetensors", "hidden.npy"]) cpSync(join(folder, name), join(folder, "inputs", name));
    await receiptOf("inputs/r.json", ["--weights", "inputs/head.safetensors", "--hidden", "inputs/hidden.npy", "--seed", "1"]);
    expect(read("inputs/r.json").places).toEqual({ weights: "head.safetensors", hidden: "hidden.npy" });
    cpSync(join(folder, "inputs"), join(folder, "moved", "deep"), { recursive: true });
    expect((await run(["replay", "moved/deep/r.json"])).code).toBe(0);
    await receiptOf("moved/above.json", HEAD);
    expect(read("moved/above.json").places).toEqual({ weights: "../head.safetensors", hidden: "../hidden.npy" });
    expect((await run(["replay", "moved/above.json"])).code).toBe(0);
  });

  test("inputs that are not where the receipt says: the error tells which option says it", async () => {
    mkdirSync(join(folder, "away"));
    cpSync(join(folder, "r.json"), join(folder, "away", "r.json"));
    const refused = async (...more: string[]) => (await run(["replay", "away/r.json", ...more])).stderr;
    expect(await refused()).toMatch(/^flash-sampling: ".*hidden\.npy" expected a readable file, got ENOENT: --hidden says where it is now\n$/);
    expect(await refused("--hidden", "hidden.npy")).toMatch(/^flash-sampling: ".*head\.safetensors" expected a readable file, got ENOENT: --weights says where it is now, and --scales where its scales are\n$/);
    expect(await refused("--hidden", "nowhere.npy")).toBe('flash-sampling: "nowhere.npy" expected a readable file, got ENOENT\n');
    expect((await run(["replay", "away/r.json", "--hidden", "hidden.npy", "--weights", "head.safetensors"])).code).toBe(0);
  });

  test("from stdin, which the receipt does not name", async () => {
    const stdin = readFileSync(join(folder, "hidden.npy"));
    await run(["sample", "--weights", "head.safetensors", "--hidden", "-", "--seed", "1", "--receipt", "piped.json"], { stdin });
    expect(read("piped.json").places).toEqual({ weights: "head.safetensors" });
    expect(await run(["replay", "piped.json"])).toEqual({ code: 2, stdout: "", stderr: 'flash-sampling: "--hidden" expected a path or a URL: the receipt names none, got none\n' });
    expect((await run(["replay", "piped.json", "--hidden", "-"], { stdin })).code).toBe(0);
  });

  test("over HTTP; what a URL's query or user part says stays out of the receipt", async () => {
    const files = new Map(["logits.npy", "web.json"].map((name) => [`/${name}`, name]));
    await withServer(
      (request, response) => serveRange(readFileSync(join(folder, files.get(request.url!.replace(/\?.*/, ""))!)), request, response),
      async (base) => {
        await receiptOf("web.json", ["--logits", `${base}/logits.npy?key=secret#part`, "--seed", "1"]);
        expect(textOf("web.json")).not.toContain("secret");
        expect(read("web.json").places).toEqual({ logits: `${base}/logits.npy` });
        expect((await run(["replay", "web.json"])).code).toBe(0);
        write("web.json", JSON.stringify({ ...read("web.json"), places: { logits: "logits.npy" } }));
        expect((await run(["replay", `${base}/web.json?key=secret`])).code).toBe(0);
      },
    );
  });
});

describe("replay --document", () => {
  test("writes what --json prints, whatever it found", async () => {
    const confirmed = await run(["replay", "r.json", "--backend", "wasm", "--json", "--document", "replayed.json"]);
    expect(confirmed).toMatchObject({ code: 0, stderr: "" });
    expect(textOf("replayed.json")).toBe(confirmed.stdout);
    const other = await run(["replay", changed("l.json", { seed: "43" }), "--document", "other.json"]);
    expect(other.code).toBe(1);
    expect(read("other.json")).toMatchObject({ kind: "replay", passed: false });
  });

  test.each([
    ["r.json", '"--document" expected another file than --receipt reads, got r.json'],
    ["hidden.npy", '"--document" expected another file than --hidden reads, got hidden.npy'],
    ["nowhere/x.json", '"--document" expected an existing folder, got nowhere'],
  ])("refuses %s", async (place, message) => {
    const before = textOf("r.json");
    expect(await run(["replay", "r.json", "--document", place])).toEqual({ code: 2, stdout: "", stderr: `flash-sampling: ${message}\n` });
    expect(textOf("r.json")).toBe(before);
  });
});

describe("replay names what differs", () => {
  test("a token or a score, with its row and sample", async () => {
    await receiptOf("two.json", [...HEAD, "--num-samples", "2"]);
    const { draws } = read("two.json");
    const other = { ...draws[3], scoreBits: "0000000000000000" };
    const file = changed("two.json", { draws: draws.map((draw: object, index: number) => (index === 3 ? other : draw)) });
    const { code, stdout, stderr } = await run(["replay", file, "--backend", "wasm"]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toBe(`wasm: differs, first at row 1, sample 1: token ${other.token} with 0000000000000000 in the receipt, token ${other.token} with ${draws[3].scoreBits} drawn (1 of 6 draws differ)\n`);
    const byOracle = JSON.parse((await run(["replay", file, "--backend", "reference", "--json"])).stdout);
    expect(byOracle).toMatchObject({ passed: false, backends: [{ status: "differs", draw: { row: 1, sample: 1, count: 1, expected: other, got: draws[3] } }] });
  });

  test("a seed", async () => {
    const { code, stdout } = await run(["replay", changed("l.json", { seed: "43" })]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/: differs, first at row 0, sample 0: .* \(3 of 3 draws differ\)\n$/);
  });

  test("another head: its digest, dtype or shape", async () => {
    const digest: string = read("r.json").headDigest;
    const flipped = digest.slice(0, -1) + (digest.endsWith("0") ? "1" : "0");
    expect(await run(["replay", changed("r.json", { headDigest: flipped })])).toMatchObject({ code: 1, stdout: `not the same head: digest ${digest.slice(0, 16)}... in the receipt, ${digest.slice(0, 16)}... in head.safetensors\n` });
    expect(await run(["replay", changed("r.json", { dtype: "f16" })])).toMatchObject({ code: 1, stdout: "not the same head: dtype f16 in the receipt, bf16 in head.safetensors\n" });
    expect(await run(["replay", changed("r.json", { V: V + 1 })])).toMatchObject({ code: 1, stdout: `not the same head: V ${V + 1} in the receipt, ${V} in head.safetensors\n` });
    const { stdout } = await run(["replay", "r.json", "--weights", "int8.safetensors", "--tensor", "w", "--scales", "s", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ passed: false, input: { input: "head", property: "dtype", expected: "bf16", got: "int8", place: expect.stringMatching(/int8\.safetensors$/) }, backends: [] });
  });

  test("other hidden states or logits", async () => {
    expect((await run(["replay", "r.json", "--hidden", "nan.npy"])).stdout).toMatch(/^not the same hidden states: digest [0-9a-f]{16}\.\.\. in the receipt, [0-9a-f]{16}\.\.\. in nan\.npy\n$/);
    expect(await run(["replay", "r.json", "--hidden", "one-row.npy"])).toMatchObject({ code: 1, stdout: "not the same hidden states: B 3 in the receipt, 1 in one-row.npy\n" });
    expect(await run(["replay", "r.json", "--hidden", "wide.npy"])).toMatchObject({ code: 1, stdout: `not the same hidden states: D ${D} in the receipt, ${2 * D} in wide.npy\n` });
    write("other-logits.npy", npy(npyDict("<f4", `(${B}, ${V})`), bytesOf(logits.map((value, at) => (at === 7 ? value + 1e-6 : value)))));
    expect((await run(["replay", "l.json", "--logits", "other-logits.npy"])).stdout).toMatch(/^not the same logits: digest/);
  });
});

describe("replay refuses", () => {
  test.each([
    ["another rule", { specVersion: "2.0" }, '"receipt.specVersion" expected 1.x, the rule that this package draws by, got 2.0'],
    ["a field that is none", { extra: 1 }, /"receipt" expected only .*, got extra/],
    ["a place that is not there", { places: { logits: "gone.npy" } }, /gone\.npy/],
    ["a place that is no array", { places: { logits: "model.gguf" } }, /expected a \.npy file/],
  ])("%s", async (_, changes, message) => {
    const { code, stdout, stderr } = await run(["replay", changed("l.json", changes)]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    if (typeof message === "string") expect(stderr).toBe(`flash-sampling: ${message}\n`);
    else expect(stderr).toMatch(message);
  });

  test.each([
    [["logits.npy"], /expected valid JSON/],
    [["gone.json"], /gone\.json/],
    [[""], /"receipt" expected a path or a URL/],
    [["l.json", "--weights", "head.safetensors"], /"--weights" expected none for a receipt of given logits/],
    [["r.json", "--logits", "logits.npy"], /"--logits" expected none for a receipt of a head/],
    [["r.json", "--tensor", "w"], /"--tensor" expected --weights beside it/],
    [["r.json", "--backend", "gpu"], /"--backend" expected auto, all, cuda/],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await run(["replay", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(message);
  });

  test("a backend that does not run here, with exit code 1", async () => {
    const missing = (await Promise.all(BACKENDS.map(async (entry) => [entry.name, await entry.probe()] as const))).find(([, reason]) => reason !== null)?.[0];
    if (missing === undefined) return;
    expect(await run(["replay", "l.json", "--backend", missing])).toMatchObject({ code: 1, stdout: "" });
  });
});
