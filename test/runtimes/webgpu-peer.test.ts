/** The packed package on WebGPU outside of browsers: Dawn as a peer package in Node, navigator.gpu in Deno, none in Bun. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BACKENDS } from "../../src/index.js";
import { unavailable } from "../require.js";
import { driverVariables, NO_DRIVER } from "../swiftshader.js";
import { bundleOutside } from "./bundles.js";
import { expectRight } from "./expect-report.js";
import { appWithPeer, packedApp, root, type PackedApp } from "./packed.js";
import { itEnds, outcome, reportOf, run } from "./peer-programs.js";
import { packagedProgram } from "./programs.js";

const TIMEOUT = 240_000;
const webgpuReason = await BACKENDS.find(({ name }) => name === "webgpu")!.probe();

let app: PackedApp;
let withoutPeer: string;
let withPeer: string;
/** Of the small head, as the reference says. */
let expectedTokens: readonly number[] | undefined;

beforeAll(async () => {
  app = await packedApp();
  withoutPeer = app.folder;
  withPeer = appWithPeer(app, "with-peer", "webgpu", join(root, "node_modules/webgpu"));
  for (const folder of [withoutPeer, withPeer]) for (const main of ["main-console.ts", "main-ends.ts"]) await bundleOutside({ folder }, main);
  ({ tokens: expectedTokens } = await outcome(process.execPath, withoutPeer, "reference"));
}, TIMEOUT);
afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

describe.each([
  { name: "node20", dtypes: ["bf16", "int8"] },
  { name: "node24", dtypes: ["f16", "f32"] },
] as const)("$name", ({ name, dtypes }) => {
  const { path, missing } = packagedProgram(name);
  describe.skipIf(unavailable(name, missing))("is there", () => {
    it("without the peer package: an error says what to install", { timeout: TIMEOUT }, async () => {
      expect((await outcome(path, withoutPeer, "webgpu")).problem).toContain("(webgpu: the package webgpu is not installed (npm install webgpu))");
    });

    it('without the peer package: "auto" takes WebAssembly without a word', { timeout: TIMEOUT }, async () => {
      const { backend, stderr } = await outcome(path, withoutPeer, "auto");
      expect(backend).toMatch(/^wasm/);
      expect(stderr).toBe("");
    });

    it('with the peer package and no driver: an error says so, and "auto" takes WebAssembly', { timeout: TIMEOUT }, async () => {
      const [asked, auto] = await Promise.all(["webgpu", "auto"].map((backend) => outcome(path, withPeer, backend, { variables: NO_DRIVER })));
      expect(asked!.problem).toMatch(/\(webgpu: .*adapter.*\)/);
      expect(auto!.backend).toMatch(/^wasm/);
    });

    describe.skipIf(unavailable("webgpu", webgpuReason))("with the peer package", () => {
      // All of them, on the same Dawn: test/webgpu.test.ts.
      it(`gives the known answers of ${dtypes.join(", ")} and of logits, and ends by itself`, { timeout: TIMEOUT }, async () => {
        expectRight(await reportOf(path, withPeer, { backends: ["webgpu"], dtypes }), ["webgpu"], 100);
      });

      itEnds(path, "webgpu", () => withPeer, () => expectedTokens);
    });
  });
});

describe("deno", () => {
  const { path, missing } = packagedProgram("deno");
  const reason = missing ?? denoObstacle(path);
  it.skipIf(unavailable("deno-webgpu", reason))("gives the known answers on its own WebGPU", { timeout: TIMEOUT }, async () => {
    const options = ["run", "--no-prompt", "--no-remote", "--node-modules-dir=manual", "--allow-read=."];
    expectRight(await reportOf(path, withoutPeer, { backends: ["webgpu"] }, { options }), ["webgpu"]);
  });
});

/** Why Deno gets no adapter from the driver that the tests use, or null. */
function denoObstacle(deno: string): string | null {
  const hasAdapter = "console.log(await navigator.gpu?.requestAdapter() != null)";
  try {
    const answer = execFileSync(deno, ["eval", hasAdapter], { env: { PATH: "/usr/bin:/bin", NO_COLOR: "1", ...driverVariables() }, stdio: ["ignore", "pipe", "ignore"], encoding: "utf8" });
    return answer.trim() === "true" ? null : "it has no WebGPU adapter";
  } catch (error) {
    return (error as Error).message.split("\n")[0]!;
  }
}

describe("bun", () => {
  const { path, missing } = packagedProgram("bun");
  describe.skipIf(unavailable("bun", missing))("with a package webgpu that ends the process when it is loaded", () => {
    const TRAP_CODE = 86;
    const options = ["--no-install"];
    let trapped: string;
    beforeAll(async () => {
      const peer = join(app.folder, "trap");
      mkdirSync(peer);
      writeFileSync(join(peer, "package.json"), JSON.stringify({ name: "webgpu", version: "0.4.0", type: "module", main: "index.js" }));
      writeFileSync(join(peer, "index.js"), `process.exit(${TRAP_CODE});`);
      trapped = appWithPeer(app, "trapped", "webgpu", peer);
      await bundleOutside({ folder: trapped }, "main-ends.ts");
    });

    it("which it does in Node", { timeout: TIMEOUT }, async () => {
      expect((await run(process.execPath, trapped, ["main-ends.js", "webgpu", "disposed"])).code).toBe(TRAP_CODE);
    });

    it("says that it has no WebGPU, and never loads the package", { timeout: TIMEOUT }, async () => {
      expect((await outcome(path, trapped, "webgpu", { options })).problem).toContain("(webgpu: Bun has no WebGPU");
      expect((await outcome(path, trapped, "auto", { options })).backend).toMatch(/^wasm/);
    });
  });
});
