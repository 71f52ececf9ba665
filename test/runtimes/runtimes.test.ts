/** The packed package in every runtime it has an entry for: the same known answers, through the runtime's own condition. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unavailable } from "../require.js";
import { bundleInside, bundleOutside, bundleWithVite, moduleQuery, staticCore, writePage } from "./bundles.js";
import { HTML_ANSWER, openBrowser, serve, type Site } from "./chromium.js";
import { filesBelow, packedApp, type PackedApp } from "./packed.js";
import { chromiumProgram, packagedProgram } from "./programs.js";
import { expectObstacle, expectRight } from "./expect-report.js";
import type { Report } from "./report.js";
import { askWorker } from "./workerd.js";

const TIMEOUT = 120_000;
const execute = promisify(execFile);
let app: PackedApp;
let consoleMain: string;

beforeAll(async () => {
  app = await packedApp();
  consoleMain = await bundleOutside(app, "main-console.ts");
}, TIMEOUT);
afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

/** Runs the console main: in the app's folder, with a home of its own, and no other variables. backends: to be asked, by default all. */
async function runConsole(program: string, args: readonly string[], main = consoleMain, backends?: readonly string[]): Promise<Report> {
  const env = { PATH: "/usr/bin:/bin", HOME: join(app.folder, "home"), DENO_DIR: join(app.folder, "deno"), NO_COLOR: "1" };
  const { stdout } = await execute(program, [...args, main, JSON.stringify({ backends })], { cwd: app.folder, env, maxBuffer: 1 << 24 });
  return JSON.parse(stdout) as Report;
}

function expectEntry(report: Report, file: string): void {
  expect(report.entry).toMatch(new RegExp(`/node_modules/flash-sampling/dist/${file}$`));
}

const PLAIN = ["wasm", "reference"];
const RELAXED = ["wasm-relaxed", ...PLAIN];

const NO_PEER = "the package webgpu is not installed (npm install webgpu)";
const NO_CUDA = "CUDA runs in Node only";

describe.each([
  { name: "node20", program: "node20", args: [], entry: "node.js", backends: PLAIN, webgpu: NO_PEER },
  { name: "node20-relaxed", program: "node20", args: ["--experimental-wasm-relaxed-simd"], entry: "node.js", backends: RELAXED, webgpu: NO_PEER },
  { name: "node24", program: "node24", args: [], entry: "node.js", backends: RELAXED, webgpu: NO_PEER },
  { name: "deno", program: "deno", args: ["run", "--no-prompt", "--no-remote", "--node-modules-dir=manual", "--allow-read=."], entry: "deno.js", backends: RELAXED, webgpu: null },
  { name: "bun", program: "bun", args: ["--no-install"], entry: "bun.js", backends: PLAIN, webgpu: "Bun has no WebGPU" },
] as const)("$name", ({ name, program, args, entry, backends, webgpu }) => {
  const { path, missing } = packagedProgram(program);
  it.skipIf(unavailable(name, missing))("gives the known answers", { timeout: TIMEOUT }, async () => {
    // Deno may have a GPU: test/runtimes/webgpu-peer.test.ts asks it for one.
    const report = await runConsole(path, args, consoleMain, ["cuda", ...(webgpu === null ? [] : ["webgpu"]), ...backends]);
    expectEntry(report, entry);
    expectRight(report, backends);
    if (webgpu !== null) expectObstacle(report, "webgpu", webgpu);
    // In Node: test/runtimes/cuda-peer.test.ts.
    if (entry !== "node.js") expectObstacle(report, "cuda", NO_CUDA);
  });
});

describe("workerd", () => {
  const { path, missing } = packagedProgram("workerd");
  it.skipIf(unavailable("workerd", missing))("gives the known answers", { timeout: TIMEOUT }, async () => {
    const options = { conditions: ["workerd", "worker", "browser"], plugins: [staticCore] };
    expect(await bundleInside(app, "main-worker.ts", "workerd", options)).toContain("workerd.js");
    const report = JSON.parse(await askWorker(path, join(app.folder, "workerd"))) as Report;
    expectRight(report, PLAIN);
    expectObstacle(report, "webgpu", "Cloudflare Workers have no WebGPU");
    expectObstacle(report, "cuda", NO_CUDA);
  });
});

it("the entry for edge-light gives the known answers, bundled as its platform does it and run in this Node", { timeout: TIMEOUT }, async () => {
  const options = { conditions: ["edge-light", "worker", "browser"], plugins: [moduleQuery] };
  expect(await bundleInside(app, "main-console.ts", "edge", options)).toContain("edge-light.js");
  const report = await runConsole(process.execPath, [], join(app.folder, "edge", "main-console.js"));
  expectRight(report, PLAIN);
  expectObstacle(report, "webgpu", "the edge runtime has no WebGPU");
  expectObstacle(report, "cuda", NO_CUDA);
});

describe("bundled for pages", () => {
  beforeAll(async () => {
    await bundleWithVite(app, "vite");
    const options = { platform: "browser", loader: { ".wasm": "file" } } as const;
    expect(await bundleInside(app, "main-url.ts", "esbuild", options)).toContain("browser.js");
    for (const [folder, main] of [[".", "main-page"], ["esbuild", "main-url"]] as const) writePage(app, folder, main);
    await bundleOutside(app, "main-page.ts");
  }, TIMEOUT);

  it("Vite copies both cores and points to them", () => {
    const assets = readdirSync(join(app.folder, "vite", "assets"));
    expect(assets.filter((name) => name.endsWith(".wasm")).map((name) => name.replace(/-[\w-]{8}\.wasm$/, ""))).toEqual(["core", "core.relaxed"]);
  });

  it("neither sees the code for CUDA", () => {
    for (const folder of ["vite", "esbuild"]) {
      const scripts = filesBelow(join(app.folder, folder)).filter((name) => name.endsWith(".js"));
      expect(scripts.length, folder).toBeGreaterThan(0);
      for (const name of scripts) expect(readFileSync(join(app.folder, folder, name), "utf8"), name).not.toMatch(/koffi|cuInit|\.fatbin/);
    }
  });

  it("esbuild copies a core that is imported as a file", () => {
    expect(readdirSync(join(app.folder, "esbuild")).filter((name) => name.endsWith(".wasm"))).toHaveLength(1);
  });

  const { path, missing } = chromiumProgram();
  describe.skipIf(unavailable("chromium", missing))("chromium gives the known answers", () => {
    let site: Site;
    let browser: Awaited<ReturnType<typeof openBrowser>>;
    beforeAll(async () => {
      site = await serve(app.folder);
      browser = await openBrowser(path);
    }, TIMEOUT);
    afterAll(async () => {
      await browser?.close();
      site?.close();
    });

    /** Opens a page; call: what to evaluate in it. */
    async function inPage<Result>(address: string, call: string): Promise<Result> {
      const page = await browser.newPage();
      const problems: string[] = [];
      page.on("pageerror", (error) => problems.push(String(error)));
      try {
        await page.goto(`${site.address}${address}`);
        await page.waitForFunction("globalThis.report || globalThis.problem", undefined, { timeout: 20_000 }).catch((cause: unknown) => {
          throw new Error(`${address} did not load: ${problems.join("; ")}`, { cause });
        });
        return (await page.evaluate(call)) as Result;
      } finally {
        await page.close();
      }
    }

    it("from the files themselves", { timeout: TIMEOUT }, async () => {
      expectRight(await inPage<Report>("/right/index.html", "report()"), RELAXED);
    });
    it("when the server gets the type of .wasm wrong", { timeout: TIMEOUT }, async () => {
      expectRight(await inPage<Report>("/wrong/index.html", "report()"), RELAXED);
    });
    it("bundled by Vite", { timeout: TIMEOUT }, async () => {
      expectRight(await inPage<Report>("/right/vite/index.html", "report()"), RELAXED);
    });
    it("bundled by esbuild, with init({ url })", { timeout: TIMEOUT }, async () => {
      expectRight(await inPage<Report>("/right/esbuild/index.html", "report()"), PLAIN);
    });

    it("after init(), where the server answers .wasm with a page: an error names it first", { timeout: TIMEOUT }, async () => {
      const call = `(async () => {
        const before = await report();
        await init({ url: "/right/node_modules/flash-sampling/dist/core.wasm" });
        return [before, await report()];
      })()`;
      const [before, after] = await inPage<[Report, Report]>("/page/index.html", call);
      const obstacle = before.backends.find(({ name }) => name === "wasm")!.obstacle;
      expect(obstacle).toContain(`expected a WebAssembly file, got ${HTML_ANSWER.length} bytes that start with "<!doctype html>`);
      expectRight(after, PLAIN);
    });
  });
});
