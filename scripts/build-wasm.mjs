/**
 * Builds every variant of the core, and judge.wasm, into build/: `node scripts/build-wasm.mjs [--force]`, or buildWasm() from a test's setup.
 * A stamp holds the hash of the compiler's version and of all sources, so that an unchanged tree is not built again.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import asc from "assemblyscript/asc";

const root = fileURLToPath(new URL("..", import.meta.url));
const stampFile = `${root}build/wasm.sha256`;
/** What a shipped module may weigh. */
const SIZE_LIMIT = 24 * 1024;
const SHIPPED = ["core", "core.relaxed", "judge"];

/** Builds all targets of asconfig.json unless their sources are those of the last build. Returns the build folder. */
export async function buildWasm({ force = false, log = () => {} } = {}) {
  const targets = Object.keys(JSON.parse(readFileSync(`${root}asconfig.json`, "utf8")).targets);
  const hash = sourceHash();
  const isFresh = existsSync(stampFile) && readFileSync(stampFile, "utf8") === hash;
  if (!force && isFresh && targets.every((target) => existsSync(`${root}build/${target}.wasm`))) return `${root}build`;
  mkdirSync(`${root}build`, { recursive: true });
  for (const target of targets) {
    const { error, stderr } = await asc.main([`assembly/${target === "judge" ? "judge" : "index"}.ts`, "--config", "asconfig.json", "--target", target, "--baseDir", root]);
    if (error) throw new Error(`asc failed for target ${target}: ${error.message}\n${stderr.toString()}`);
    const { size } = statSync(`${root}build/${target}.wasm`);
    if (SHIPPED.includes(target) && size > SIZE_LIMIT) throw new Error(`"${target}.wasm" expected at most ${SIZE_LIMIT} bytes, got ${size}`);
    log(`${target}.wasm ${size} bytes`);
  }
  writeFileSync(stampFile, hash);
  return `${root}build`;
}

function sourceHash() {
  const hash = createHash("sha256").update(asc.version);
  const sources = readdirSync(`${root}assembly`, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const files = ["asconfig.json", "src/spec/constants.ts", ...sources.sort().map((name) => `assembly/${name}`)];
  for (const file of files) hash.update(file).update(readFileSync(root + file));
  return hash.digest("hex");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildWasm({ force: process.argv.includes("--force"), log: (line) => console.log(line) });
}
