/** Would the known answers notice? The oracle is broken on purpose, one clause at a time; some known answer must differ. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";
import { describe, expect, it } from "vitest";
import { BREAKS, type Break } from "../broken-rule.js";
import { VECTOR_CHECKS, type OracleFunctions } from "../vector-checks.js";

const sourceOf = (path: string): string => fileURLToPath(new URL(`../../src/${path}.ts`, import.meta.url));

function patch({ file, from, to }: Break): Plugin {
  const path = sourceOf(`spec/${file}`);
  return {
    name: "break",
    setup({ onLoad }) {
      onLoad({ filter: /\.ts$/ }, (args) => {
        if (args.path !== path) return undefined;
        const text = readFileSync(path, "utf8");
        if (text.split(from).length !== 2) throw new Error(`${file}.ts expected exactly one "${from}", got ${text.split(from).length - 1}`);
        return { contents: text.replace(from, () => to), loader: "ts" };
      });
    },
  };
}

async function buildOracle(plugins: Plugin[]): Promise<OracleFunctions> {
  const contents = `export * from ${JSON.stringify(sourceOf("oracle"))}; export * from ${JSON.stringify(sourceOf("spec/float"))};`;
  const { outputFiles } = await build({ stdin: { contents, resolveDir: "/" }, bundle: true, format: "esm", write: false, plugins, logLevel: "silent" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0]!.contents).toString("base64")}`) as Promise<OracleFunctions>;
}

/** The files of known answers that see the break. */
function caughtBy(oracle: OracleFunctions): string[] {
  return Object.keys(VECTOR_CHECKS).filter((name) => {
    try {
      return VECTOR_CHECKS[name]!(oracle).length > 0;
    } catch {
      return true;
    }
  });
}

describe("the known answers", () => {
  it("hold for the oracle as it is, built the same way", async () => {
    expect(caughtBy(await buildOracle([]))).toEqual([]);
  });

  it.each(BREAKS)("notice a break of $clause", { timeout: 120_000 }, async (broken) => {
    expect(caughtBy(await buildOracle([patch(broken)]))).not.toEqual([]);
  });
});
