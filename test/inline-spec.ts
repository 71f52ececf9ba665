/**
 * For Vitest: brings src/spec into each module that imports it, as the build does. Left apart, every call of one of its functions
 * would go through a getter of the module runner, which makes the oracle four times slower.
 */
import { readFileSync } from "node:fs";
import { resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type Plugin as EsbuildPlugin } from "esbuild";
import type { Plugin } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));
const spec = resolve(root, "src/spec") + sep;

/** All other imports stay as they are. */
const onlySpec: EsbuildPlugin = {
  name: "only-spec",
  setup({ onResolve }) {
    onResolve({ filter: /./ }, ({ kind, path, resolveDir }) => {
      if (kind === "entry-point" || (path.startsWith(".") && resolve(resolveDir, path).startsWith(spec))) return undefined;
      return { path, external: true };
    });
  },
};

export const inlineSpec: Plugin = {
  name: "inline-spec",
  enforce: "pre",
  async load(id) {
    if (!id.startsWith(root) || !id.endsWith(".ts") || id.includes("node_modules")) return undefined;
    if (!id.startsWith(spec) && !readFileSync(id, "utf8").includes("/spec/")) return undefined;
    const { outputFiles, metafile } = await build({
      entryPoints: [id],
      outfile: id.replace(/\.ts$/, ".js"),
      bundle: true,
      write: false,
      metafile: true,
      format: "esm",
      target: "es2022",
      sourcemap: "external",
      plugins: [onlySpec],
      logLevel: "error",
    });
    for (const input of Object.keys(metafile.inputs)) this.addWatchFile(resolve(input));
    const [map, code] = outputFiles.sort((a, b) => b.path.length - a.path.length).map(({ text }) => text);
    return { code: code!, map: map! };
  },
};
