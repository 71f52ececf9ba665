/** The test's own files, made ready for each kind of runtime: with the package left outside, or bundled in by its condition. */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { build as viteBuild } from "vite";
import type { PackedApp } from "./packed.js";

const here = fileURLToPath(new URL(".", import.meta.url));
// tsconfigRaw: this repository's tsconfig would send the package's name to its sources.
const COMMON = { tsconfigRaw: {}, bundle: true, format: "esm", target: "es2022", logLevel: "error" } as const satisfies BuildOptions;

/** The package stays an import, for the runtime itself to resolve. */
export async function bundleOutside({ folder }: Pick<PackedApp, "folder">, main: string): Promise<string> {
  const outfile = join(folder, main.replace(".ts", ".js"));
  await build({ ...COMMON, entryPoints: [join(here, main)], outfile, external: ["flash-sampling", "flash-sampling/*"] });
  return outfile;
}

/** The package is bundled in, as a bundler finds it by these conditions. Returns the package's files that went in. */
export async function bundleInside(app: PackedApp, main: string, folder: string, options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [join(here, main)],
    outdir: join(app.folder, folder),
    nodePaths: [join(app.folder, "node_modules")],
    metafile: true,
    ...options,
  });
  return Object.keys(metafile!.inputs).filter((input) => input.includes("node_modules/flash-sampling/")).map((input) => basename(input));
}

/** What bundlers for workers do with an imported core: the file is copied, the import stays. */
export const staticCore: Plugin = {
  name: "static-core",
  setup({ onResolve, initialOptions }) {
    onResolve({ filter: /\.wasm$/ }, ({ path, resolveDir }) => {
      mkdirSync(initialOptions.outdir!, { recursive: true });
      copyFileSync(join(resolveDir, path), join(initialOptions.outdir!, basename(path)));
      return { path: `./${basename(path)}`, external: true };
    });
  },
};

/** Vercel's "?module" makes a WebAssembly.Module of an import. Here, for Node, it is compiled on the spot. */
export const moduleQuery: Plugin = {
  name: "module-query",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => ({ path: join(resolveDir, path.replace("?module", "")), namespace: "module-query" }));
    onLoad({ filter: /.*/, namespace: "module-query" }, ({ path }) => ({
      contents: `export default new WebAssembly.Module(Buffer.from("${readFileSync(path, "base64")}", "base64"));`,
    }));
  },
};

/** The page as Vite builds it, without a word of configuration about the core. */
export async function bundleWithVite(app: PackedApp, folder: string): Promise<void> {
  const source = join(app.folder, "vite-source");
  mkdirSync(source, { recursive: true });
  // Where an app's own sources would be, so that the package is found from there.
  await build({ ...COMMON, entryPoints: [join(here, "main-page.ts")], outfile: join(source, "main-page.js"), external: ["flash-sampling", "flash-sampling/*"] });
  writeFileSync(join(source, "index.html"), '<!doctype html><script type="module" src="./main-page.js"></script>');
  await viteBuild({ root: source, base: "./", configFile: false, logLevel: "error", build: { outDir: join(app.folder, folder), target: "es2022" } });
}

/** A page of a folder of the app that loads a main, and finds the package unbundled as the condition "browser" says. */
export function writePage(app: PackedApp, folder: string, main: string): void {
  const imports = { "flash-sampling": "./node_modules/flash-sampling/dist/browser.js", "flash-sampling/oracle": "./node_modules/flash-sampling/dist/oracle.js" };
  const missing = Object.values(imports).find((target) => !existsSync(join(app.folder, target)));
  if (missing !== undefined) throw new Error(`"${missing}" expected in the package, got none`);
  writeFileSync(join(app.folder, folder, "index.html"), `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script><script type="module" src="./${main}.js"></script>`);
}
