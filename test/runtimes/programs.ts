/** Where the runtimes are: in the npm packages of this folder (`npm run setup:runtimes`), or on the machine. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const PACKAGED = {
  node20: "node20/bin/node",
  node24: "node24/bin/node",
  deno: "@deno/linux-x64-glibc/deno",
  bun: "@oven/bun-linux-x64/bin/bun",
  workerd: "@cloudflare/workerd-linux-64/bin/workerd",
} as const;

const CHROMIUMS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export interface Program {
  readonly path: string;
  /** null when it is there */
  readonly missing: string | null;
}

export function packagedProgram(name: keyof typeof PACKAGED): Program {
  const path = inModules(PACKAGED[name]);
  if (existsSync(path)) return { path, missing: null };
  if (name === `node${process.versions.node.split(".")[0]}`) return { path: process.execPath, missing: null };
  return { path, missing: "not installed; npm run setup:runtimes (Linux x64) installs it" };
}

/** A Chromium of the machine. */
export function chromiumProgram(): Program {
  const path = CHROMIUMS.find((candidate) => existsSync(candidate));
  if (path === undefined) return { path: "", missing: `not installed; looked for ${CHROMIUMS.join(", ")}` };
  return { path, missing: null };
}

function inModules(path: string): string {
  return fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
}
