/** The packed package on WebGPU in Chromium, unbundled and built by Vite: its file is fetched when it is asked for, and its answers are right. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { unavailable } from "../require.js";
import { bundleOutside, bundleWithVite, writePage } from "./bundles.js";
import { adapterObstacle, openBrowser, serve, type Site } from "./chromium.js";
import { expectRight } from "./expect-report.js";
import { packedApp, type PackedApp } from "./packed.js";
import { chromiumProgram } from "./programs.js";
import type { Report } from "./report.js";
import type { SmallOutcome } from "./small-head.js";

const TIMEOUT = 240_000;
const { path, missing } = chromiumProgram();

let app: PackedApp;
beforeAll(async () => {
  app = await packedApp();
  await bundleOutside(app, "main-page.ts");
  writePage(app, ".", "main-page");
  await bundleWithVite(app, "vite");
}, TIMEOUT);
afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

it("Vite puts the code for WebGPU into a file of its own", () => {
  expect(readdirSync(join(app.folder, "vite", "assets")).filter((name) => name.startsWith("webgpu"))).toEqual([expect.stringMatching(/^webgpu-[\w-]{8}\.js$/)]);
});

describe("chromium", async () => {
  const reason = missing ?? (await adapterObstacle(path).catch((error: Error) => error.message.split("\n")[0]!));
  describe.skipIf(unavailable("chromium-webgpu", reason))("with SwiftShader", () => {
    let site: Site;
    let browser: Browser;
    beforeAll(async () => {
      site = await serve(app.folder);
      browser = await openBrowser(path, { withWebgpu: true });
    }, TIMEOUT);
    afterAll(async () => {
      await browser?.close();
      site?.close();
    });

    /** Opens a page, prepared by a script that runs before its own; use gets the page and the paths of all files it asked for so far. */
    async function withPage(address: string, use: (page: Page, fetched: readonly string[]) => Promise<void>, before = ""): Promise<void> {
      const page = await browser.newPage();
      const fetched: string[] = [];
      page.on("request", (request) => fetched.push(new URL(request.url()).pathname));
      try {
        await page.addInitScript(before);
        await page.goto(`${site.address}/right/${address}`);
        await page.waitForFunction("globalThis.report", undefined, { timeout: 20_000 });
        await use(page, fetched);
      } finally {
        await page.close();
      }
    }

    it.each([
      { name: "the files themselves", address: "index.html", file: /\/dist\/webgpu\.js$/, questions: { backends: ["webgpu"] }, draws: 200 },
      { name: "Vite's build", address: "vite/index.html", file: /\/assets\/webgpu-[\w-]{8}\.js$/, questions: { backends: ["webgpu"], dtypes: ["bf16"] }, draws: 100 },
    ])("$name: fetches the code for WebGPU when it is asked for, and gives the known answers", { timeout: TIMEOUT }, async ({ address, file, questions, draws }) => {
      await withPage(address, async (page, fetched) => {
        const ofWebgpu = () => fetched.filter((path) => file.test(path));
        expect(await page.evaluate<SmallOutcome>('sampleSmall("wasm")')).toMatchObject({ backend: "wasm" });
        expect(ofWebgpu()).toEqual([]);
        expectRight(await page.evaluate<Report>(`report(${JSON.stringify(questions)})`), ["webgpu"], draws);
        expect(ofWebgpu()).toHaveLength(1);
        expect((await page.evaluate<SmallOutcome>('sampleSmall("auto")')).backend, "software is not chosen").toMatch(/^wasm/);
      });
    });

    it("a page without WebGPU samples on WebAssembly, and says why when it is asked for the other", { timeout: TIMEOUT }, async () => {
      await withPage(
        "vite/index.html",
        async (page) => {
          expect((await page.evaluate<SmallOutcome>('sampleSmall("auto")')).backend).toMatch(/^wasm/);
          expect((await page.evaluate<SmallOutcome>('sampleSmall("webgpu")')).problem).toContain("(webgpu: this runtime has no navigator.gpu");
        },
        "delete Navigator.prototype.gpu",
      );
    });
  });
});
