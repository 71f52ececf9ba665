/** The package as users get it: packed, and unpacked into an app's node_modules. */
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const execute = promisify(execFile);
export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface PackedApp {
  /** An empty app whose only dependency is the package; the caller removes it. */
  readonly folder: string;
  readonly packageFolder: string;
  readonly tarball: string;
}

/** Packs the tree as it is built: `npm test` has seen to that. */
export async function packedApp(): Promise<PackedApp> {
  const folder = mkdtempSync(join(tmpdir(), "flash-sampling-app-"));
  const modules = join(folder, "node_modules");
  mkdirSync(modules);
  const npm = process.env["npm_execpath"]?.endsWith("npm-cli.js") ? [process.execPath, process.env["npm_execpath"]] : ["npm"];
  const [command, ...first] = npm as [string, ...string[]];
  await execute(command, [...first, "pack", "--ignore-scripts", "--silent", "--pack-destination", folder], { cwd: root });
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz"))!);
  await execute("tar", ["-xzf", tarball, "-C", modules]);
  const packageFolder = join(modules, "flash-sampling");
  renameSync(join(modules, "package"), packageFolder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies: { "flash-sampling": "*" } }));
  return { folder, packageFolder, tarball };
}

/** The same package in a folder of its own below the app, with another package beside it that lies in source. Returns the folder. */
export function appWithPeer(app: PackedApp, name: string, peer: string, source: string): string {
  const folder = join(app.folder, name);
  const modules = join(folder, "node_modules");
  cpSync(app.packageFolder, join(modules, "flash-sampling"), { recursive: true });
  symlinkSync(source, join(modules, peer));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  return folder;
}

/** The paths of all files below a folder, with slashes. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .map((name) => name.split(sep).join("/"))
    .sort();
}
