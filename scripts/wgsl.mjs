/** Makes a string of each imported .wgsl file, for esbuild and for Vite: without comments and indentation, since browsers download it. */
import { readFileSync } from "node:fs";

/** The statements of a shader file, one a line. */
export function wgslText(path) {
  const lines = readFileSync(path, "utf8").split("\n").map((line) => line.replace(/\/\/.*/, "").trim());
  return lines.filter((line) => line !== "").join("\n");
}

export const wgslForEsbuild = {
  name: "wgsl",
  setup(build) {
    build.onLoad({ filter: /\.wgsl$/ }, ({ path }) => ({ contents: wgslText(path), loader: "text" }));
  },
};

export const wgslForVite = {
  name: "wgsl",
  enforce: "pre",
  load(id) {
    return id.endsWith(".wgsl") ? `export default ${JSON.stringify(wgslText(id))};` : undefined;
  },
};
