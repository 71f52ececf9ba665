/**
 * Runs a script of this package in a checkout that may be fresh: `node scripts/with-setup.mjs [--no-build | --bench] FILE [ARGUMENT...]`.
 * --bench also installs what bench/ compares with.
 * Installs the locked packages when they are missing or others, builds dist/ when it is out of date, then runs FILE with Node.
 * Plain Node only: it runs before there are packages.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Installs the packages of the lock file in folder, unless they are there. */
export function installPackages(folder) {
  if (hasLockedPackages(folder)) return;
  console.error(`Installing the packages of ${join(folder, "package-lock.json")} ...`);
  const npm = process.env.npm_execpath?.endsWith("npm-cli.js") ? [process.execPath, process.env.npm_execpath] : ["npm"];
  const [command, ...first] = npm;
  const install = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  // stdout belongs to the script that runs afterwards.
  const { status, error } = spawnSync(command, [...first, ...install], { cwd: folder, stdio: ["ignore", 2, 2], shell: npm.length === 1 && process.platform === "win32" });
  if (error) throw error;
  if (status !== 0) throw new Error(`npm ci in ${folder} ended with status ${status}`);
}

/** npm leaves a list of what it installed; optional packages of other platforms are rightly not on it. */
function hasLockedPackages(folder) {
  const installedFile = join(folder, "node_modules", ".package-lock.json");
  if (!existsSync(installedFile)) return false;
  const installed = JSON.parse(readFileSync(installedFile, "utf8")).packages;
  const locked = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")).packages;
  return Object.entries(locked).every(([path, { version, integrity, optional }]) => {
    const found = installed[path];
    return path === "" || (found === undefined ? optional === true : found.version === version && found.integrity === integrity);
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const option = process.argv[2]?.startsWith("--") ? process.argv[2] : null;
  const [file, ...rest] = process.argv.slice(option === null ? 2 : 3);
  installPackages(root);
  if (option === "--bench") installPackages(join(root, "bench"));
  if (option !== "--no-build") {
    const { build } = await import("./build.mjs");
    await build({ log: (line) => console.error(line) });
  }
  if (file !== undefined) {
    const { status, signal } = spawnSync(process.execPath, [file, ...rest], { stdio: "inherit" });
    process.exitCode = signal === null ? (status ?? 1) : 1;
  }
}
