/** What documents tell people to paste: run as it stands there. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createSampler } from "../src/index.js";
import { corpusFiles } from "../src/verify/corpus/export.js";
import { unavailable } from "./require.js";

/** The first block of a language in a document. */
function blockOf(document: string, language: string): string {
  const text = readFileSync(new URL(`../${document}`, import.meta.url), "utf8");
  return new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, "ms").exec(text)![1]!;
}

test("README begins with a program that prints what it says", async () => {
  const lines = blockOf("README.md", "js");
  expect(lines.trim().split("\n")).toHaveLength(3);
  const printed: unknown[] = [];
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  const program = lines.replace('import { createSampler } from "flash-sampling";', "");
  await AsyncFunction("createSampler", "console", program)(createSampler, { log: (value: unknown) => printed.push(value) });
  expect(printed).toEqual([expect.any(Int32Array)]);
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  expect(readme).toContain(`\`[ ${Array.from(printed[0] as Int32Array).join(", ")} ]\``);
});

/** A right sampler in float64, keyed by seed, sequence and position. mode: what it does wrong */
const SAMPLER = `
def my_sampler(logits, seed, temperature, sequence, position, num_samples):
    z = logits.astype("f8")
    refused = np.full(num_samples, -1)
    if not 0 <= temperature < np.inf and MODE != "any-temperature": return refused
    if np.isnan(z).any() or not (z.max() < np.inf) or z.max() == -np.inf: return np.zeros(num_samples, int) if MODE == "never-refuses" else refused
    if MODE == "refuses": return refused
    if temperature == 0: return np.full(num_samples, z.argmax())
    rng = np.random.default_rng([0 if MODE == "one-seed" else seed, sequence, 0 if MODE == "one-position" else position])
    with np.errstate(over="ignore", invalid="ignore"):
        return ((z - z.max()) / temperature + rng.gumbel(size=(num_samples, z.size))).argmax(1)
`;
const hasNumpy = spawnSync("python3", ["-c", "import numpy"]).status === 0;

const noNumpy = unavailable("python", hasNumpy ? null : "no python3 with numpy");

test.skipIf(noNumpy)("the rows to draw from hold the masses that are told", () => {
  const told = `z = {name: np.exp(np.load(name + ".npy").astype("f8")) for name in ["flat", "normal", "gap20", "gap25"]}
print(*("%.2g" % (1 - row.max() / row.sum()) for row in z.values()))`;
  const folder = mkdtempSync(join(tmpdir(), "flash-sampling-documents-"));
  try {
    const { stdout, stderr } = spawnSync("python3", ["-c", `${blockOf("docs/goodness-of-fit.md", "python")}\n${told}`], { cwd: folder, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "1 0.97 6.6e-05 4.4e-07\n", stderr: "" });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe.skipIf(noNumpy)("the corpus without npm", () => {
  const folder = mkdtempSync(join(tmpdir(), "flash-sampling-documents-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  for (const { path, bytes } of corpusFiles(true)) {
    mkdirSync(dirname(join(folder, "corpus", path)), { recursive: true });
    writeFileSync(join(folder, "corpus", path), bytes);
  }
  const python = (mode: string) =>
    spawnSync("python3", ["-c", `import numpy as np\nMODE = "${mode}"\n${SAMPLER}\n${blockOf("docs/corpus.md", "python")}`], { cwd: folder, encoding: "utf8" });

  test("passes a right sampler", () => {
    const { status, stderr } = python("right");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test.each([
    ["never-refuses", "nan-row"],
    ["refuses", "nan-in-one-row-clean"],
    ["any-temperature", "temperature-nan"],
    ["one-seed", "seed-large"],
    ["one-position", "positions"],
  ])("stops at a wrong one: %s", (mode, name) => {
    const { status, stderr } = python(mode);
    expect(status).toBe(1);
    expect(stderr).toContain(`AssertionError: ('${name}', `);
  });
});
