/** What the command line refuses: one line on stderr, nothing on stdout, the right exit code, nothing left running. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { toLine } from "../src/cli/exit.js";
import { useCli, writeInputs, type Ended } from "./cli-process.js";
import { safetensors, withServer } from "./head-fixtures.js";

const { folder, run, runMany } = useCli();
writeInputs(folder);
const HEAD = ["sample", "--weights", "head.safetensors", "--hidden", "hidden.npy", "--seed", "1"];
const LOGITS = ["sample", "--logits", "logits.npy", "--seed", "1"];

function expectRefused({ code, stdout, stderr }: Ended): string {
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(/^flash-sampling: [^\n]+\n$/);
  expect(stderr).not.toContain("    at ");
  return stderr;
}

const refused = async (args: readonly string[]): Promise<string> => expectRefused(await run(args));

/** Command lines that are refused, all of them in one process. */
function testRefused(cases: readonly (readonly [title: string, args: readonly string[], message: string | RegExp])[]): void {
  const ended = runMany(() => cases.map(([, args]) => args));
  test.each(cases.map(([title, , message], index) => [title, message, index] as const))("%s", async (_, message, index) => {
    const said = expectRefused(await ended(index));
    if (typeof message === "string") expect(said).toContain(message);
    else expect(said).toMatch(message);
  });
}

describe("values", () => {
  const values: [option: string, value: string][] = [
    ["--temperature", "-1"],
    ["--temperature", "256"],
    ["--temperature", "abc"],
    ["--temperature", ""],
    ["--temperature", "NaN"],
    ["--seed", "-1"],
    ["--seed", "18446744073709551616"],
    ["--seed", "1.5"],
    ["--seed", "0x"],
    ["--position", "4294967296"],
    ["--position", "-1"],
    ["--sequence", "4294967296"],
    ["--sequence", "columns"],
    ["--num-samples", "0"],
    ["--num-samples", "16777217"],
    ["--on-invalid", "ignore"],
    ["--backend", "metal"],
  ];
  testRefused(values.map(([option, value]) => [`${option} ${value}`, [...LOGITS, option, value], `"${option}" expected `]));

  test("the ends of the ranges are inside", async () => {
    const ends = ["--temperature", "255.99", "--seed", "18446744073709551615", "--position", "4294967295", "--sequence", "4294967295"];
    expect(await run([...LOGITS, ...ends])).toMatchObject({ code: 0, stderr: "" });
  });

  const places = ["5:1", "0:50", "0:1:1", "0", "0:-1", "a:b"];
  testRefused(places.map((place) => [`--explain ${place}`, ["oracle", "--logits", "logits.npy", "--seed", "1", "--explain", place], '"--explain" expected ']));

  const addresses: [option: string, address: string][] = [
    ["--weights", ""],
    ["--hidden", "http://"],
    ["--logits", "http://%zz/"],
    ["--scales", "https:"],
    ["--weights", "file://host%20/x"],
    ["--hidden", "file:///a%2Fb"],
  ];
  testRefused(addresses.map(([option, address]) => [`an address that is none: ${option} ${JSON.stringify(address)}`, ["sample", option, address], `flash-sampling: "${option}" expected a path or a URL, got ${JSON.stringify(address)}\n`]));

  test("a query stays out of the message: it may hold a key", async () => {
    expect(await refused(["sample", "--weights", "http://?key=secret"])).not.toContain("secret");
  });

  test.each(["ftp://host/x", "http://user:secret@host/x", "http://localhost:1/x"])("an address that cannot be read: %s", async (address) => {
    expect(await refused(["sample", "--weights", address, "--hidden", "hidden.npy"])).not.toContain("secret");
  });

  const sizes = ["32768", "1025"];
  testRefused(sizes.map((size) => [`demo: a head of 1048576 * ${size}, before anything is shown`, ["demo", "--vocab-size", "1048576", "--hidden-size", size], `"--vocab-size" expected V * D of at most ${2 ** 30}`]));

  test("--require with a name that does not exist", async () => {
    expect(await refused(["doctor", "--require", "wasm,metal"])).toMatch(/"--require" expected .*reference, got "metal"/);
  });
});

describe("inputs", () => {
  const inputs: [what: string, args: string[]][] = [
    ["none", []],
    ["a head without hidden states", ["--weights", "head.safetensors"]],
    ["hidden states without a head", ["--hidden", "hidden.npy"]],
    ["a head and logits", ["--weights", "head.safetensors", "--hidden", "hidden.npy", "--logits", "logits.npy"]],
    ["a tensor of logits", ["--logits", "logits.npy", "--tensor", "x"]],
  ];
  testRefused(inputs.map(([what, args]) => [what, ["sample", ...args], /"--weights" expected a head, and --hidden beside it|"--tensor" expected --weights beside it/]));
});

describe("files", () => {
  const files: [what: string, more: string[], message: string][] = [
    ["weights that are missing", ["--weights", "missing.safetensors"], "ENOENT"],
    ["hidden states that are missing", ["--hidden", "missing.npy"], "ENOENT"],
    ["integers for hidden states", ["--hidden", "integers.npy"], "<i4"],
    ["hidden states of another D", ["--hidden", "wide.npy"], "expected D = 40 columns, as the head has, got shape [3, 80]"],
    ["hidden states of three dimensions", ["--hidden", "cube.npy"], "got [1, 3, 40]"],
    ["an array shorter than it says", ["--hidden", "lying.npy"], "got 7"],
    ["a head for hidden states", ["--hidden", "head.safetensors"], "expected a .npy file"],
    ["a GGUF file", ["--weights", "model.gguf"], "got a GGUF file. Convert"],
    ["a tensor that is not there: the others are listed", ["--tensor", "head"], "lm_head.weight BF16 [50, 40]"],
    ["scales for a head without", ["--scales", "scales.npy"], "expected weights of dtype I8"],
  ];
  testRefused(files.map(([what, more, message]) => [what, [...HEAD, ...more], message]));

  test("an --out that is a device stays one", async () => {
    if (!existsSync("/dev/null")) return expect(process.platform).toBe("win32");
    await refused([...LOGITS, "--out", "/dev/null"]);
    expect(readFileSync("/dev/null")).toHaveLength(0);
  });
});

describe("names that a terminal would obey", () => {
  const HOSTILE = "\x1b[2J\x9b31m\r\n\x7f\u2028\u202e\u200b\x07\b";

  test("in an error of a file", async () => {
    const line = await refused(["sample", "--logits", HOSTILE]);
    expect(line.slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(line).toContain(String.raw`\x1b[2J\x9b31m\x0d\x0a\x7f\u{2028}\u{202e}\u{200b}\x07\x08`);
  });

  test("in an error of the arguments, and of a file's own names", async () => {
    const header = { "lm_head\x9b.weight": { dtype: "BF16", shape: [1, 1], bytes: new Uint8Array(2) }, b: { dtype: "BF16", shape: [1, 1], bytes: new Uint8Array(2) } };
    writeFileSync(join(folder, "hostile.safetensors"), safetensors(header));
    const lists = [[HOSTILE], ["help", HOSTILE], [...LOGITS, `--${HOSTILE}`], ["sample", "--weights", "hostile.safetensors", "--hidden", "hidden.npy"]];
    const ended = runMany(() => lists);
    for (const index of lists.keys()) expect(expectRefused(await ended(index)).slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  });

  test.each(["x", "\x1b", "\u{1f600}", "\ud83d"])("a line has an end: %j", (character) => {
    for (const length of [499, 500, 501, 5000]) {
      const line = toLine(character.repeat(length));
      expect(Array.from(line).length).toBeLessThanOrEqual(500);
      expect(line.endsWith("...")).toBe(length > 500 || character === "\x1b" || character === "\ud83d");
    }
    expect(toLine("a".repeat(500))).toBe("a".repeat(500));
  });
});

describe("the command itself", () => {
  const SIMILAR = '"smaple" expected a command, got an unknown one (did you mean sample?)';
  const UNKNOWN = '"nosuch" expected a command, got an unknown one (--help lists them)';
  const refusals: [args: string[], message: string][] = [
    [["smaple"], SIMILAR],
    [["help", "smaple"], SIMILAR],
    [["nosuch"], UNKNOWN],
    [["help", "nosuch"], UNKNOWN],
    [["corpus", "nosuch"], UNKNOWN],
    [["--bogus"], '"--bogus" expected an option of this command, got an unknown one (--help lists them)'],
    [[...LOGITS, "--sede", "1"], '"--sede" expected an option of this command, got an unknown one (did you mean --seed?)'],
    [[...LOGITS, "--temp", "0.7"], '"--temp" expected an option of this command, got an unknown one (did you mean --temperature?)'],
    [["check", "--temp=0.7"], '"--temp=0.7" expected an option of this command, got an unknown one (did you mean --temperature or --temperatures?)'],
    [["invar"], '"invar" expected a command, got an unknown one (did you mean invariance?)'],
    [[...LOGITS, "-x"], '"-x" expected an option of this command, got an unknown one (--help lists them)'],
    [["oracle", "--backend", "wasm"], '"--backend" expected an option of this command, got an unknown one (--help lists them)'],
    [[...LOGITS, "--seed"], '"--seed" expected a value, <n>, got none'],
    [["sample", "surplus"], '"sample" expected no argument beside its options, got 1'],
    [["replay", "a", "b", "c"], '"replay" expected 1 argument, got 3'],
    [["replay"], '"receipt" expected a value, got none'],
    [["corpus", "export"], '"folder" expected a value, got none'],
    [["report", "--out", "x.html"], '"documents" expected a value, got none'],
    [["gof", "--logits", "logits.npy"], '"--tokens" expected a value, <file...>: it is required, got none'],
    [["corpus", "check"], '"--tokens" expected a folder, or a command after --, got neither'],
    [["module-host", "x.mjs"], '"--module" expected to be given to invariance, which starts this command, got a start by hand'],
  ];
  const ended = runMany(() => refusals.map(([args]) => args));

  test.each(refusals.map(([args, message], index) => [JSON.stringify(args), message, index] as const))("%s", async (_, message, index) => {
    expect(await ended(index)).toEqual({ code: 2, stdout: "", stderr: `flash-sampling: ${message}\n` });
  });

  test("without a verb shows the help, on stderr", async () => {
    const { code, stdout, stderr } = await run([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/^Usage: flash-sampling/);
    expect(await run(["help"])).toEqual({ code: 0, stdout: stderr, stderr: "" });
  });

  test("--version is the package's", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string };
    expect(await run(["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  const VERBS = ["sample", "oracle", "doctor", "demo", "check", "gof", "invariance", "replay", "report", "corpus export", "corpus check"];
  const help = runMany(() => VERBS.flatMap((verb) => [[...verb.split(" "), "--help"], ["help", verb]]));

  test.each(VERBS.map((verb, index) => [verb, index] as const))("%s --help has examples and fits 80 columns", async (verb, index) => {
    const { code, stdout, stderr } = await help(2 * index);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain(`$ flash-sampling ${verb}`);
    expect(Math.max(...stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
    if (!verb.includes(" ")) expect((await help(2 * index + 1)).stdout).toBe(stdout);
  });
});

describe("an end from outside", () => {
  test("a reader that leaves early is no error", async () => {
    const ended = await run(["oracle", "--logits", "logits.npy", "--seed", "1", "--num-samples", "300"], { onStart: (child) => child.stdout!.destroy() });
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test.skipIf(process.platform === "win32")("Ctrl-C during a load: 130, and nothing is written", async () => {
    const file = readFileSync(join(folder, "head.safetensors"));
    const before = readdirSync(folder);
    let interrupt: () => unknown = () => {};
    const ended = await withServer(
      (_, response) => {
        response.writeHead(206, { "Content-Length": file.length, "Content-Range": `bytes 0-${file.length - 1}/${file.length}` });
        // Half of the weights: the load waits for the rest.
        response.write(file.subarray(0, file.length / 2), () => setTimeout(interrupt, 300));
      },
      (base) =>
        run(["sample", "--weights", `${base}/head.safetensors`, "--hidden", "hidden.npy", "--out", "tokens.npy"], {
          // Once: a second Ctrl-C ends the process on the spot.
          onStart: (child) => (interrupt = () => child.killed || child.kill("SIGINT")),
        }),
    );
    expect(ended).toEqual({ code: 130, stdout: "", stderr: "flash-sampling: interrupted\n" });
    expect(readdirSync(folder)).toEqual(before);
  });
});
