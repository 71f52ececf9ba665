/** The packed package on CUDA in Node: koffi as a peer package, a driver, and kernels, and what is said where one of them is missing. */
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import koffi from "koffi";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BACKENDS } from "../../src/index.js";
import { unavailable } from "../require.js";
import { bundleOutside } from "./bundles.js";
import { expectRight } from "./expect-report.js";
import { appWithPeer, packedApp, root, type PackedApp } from "./packed.js";
import { itEnds, outcome, reportOf } from "./peer-programs.js";
import { packagedProgram } from "./programs.js";

const TIMEOUT = 120_000;
const KERNELS = "node_modules/flash-sampling/dist/flash-sampling.fatbin";
const cudaReason = await BACKENDS.find(({ name }) => name === "cuda")!.probe();

let app: PackedApp;
let withoutKoffi: string;
let withKoffi: string;
let withoutKernels: string;
let withBrokenKoffi: string;
/** Of the small head, as the reference says. */
let expectedTokens: readonly number[] | undefined;

beforeAll(async () => {
  app = await packedApp();
  withoutKoffi = app.folder;
  // Where the package was made without kernels: nothing looks at them before the driver is there.
  if (!existsSync(join(withoutKoffi, KERNELS))) writeFileSync(join(withoutKoffi, KERNELS), "kernels");
  const installed = join(root, "node_modules/koffi");
  withKoffi = appWithPeer(app, "with-koffi", "koffi", installed);
  withoutKernels = appWithPeer(app, "without-kernels", "koffi", installed);
  rmSync(join(withoutKernels, KERNELS));
  const broken = join(app.folder, "broken");
  mkdirSync(broken);
  writeFileSync(join(broken, "package.json"), JSON.stringify({ name: "koffi", version: "3.3.0", type: "module", main: "index.js" }));
  writeFileSync(join(broken, "index.js"), 'throw new Error("no program for this platform");');
  withBrokenKoffi = appWithPeer(app, "with-broken-koffi", "koffi", broken);
  for (const folder of [withoutKoffi, withKoffi, withoutKernels, withBrokenKoffi]) {
    for (const main of ["main-console.ts", "main-ends.ts"]) await bundleOutside({ folder }, main);
  }
  ({ tokens: expectedTokens } = await outcome(process.execPath, withoutKoffi, "reference"));
}, TIMEOUT);
afterAll(() => rmSync(app.folder, { recursive: true, force: true }));

/** Whether a machine has the driver, with a GPU or without one. */
function hasDriver(): boolean {
  try {
    koffi.load(process.platform === "win32" ? "nvcuda.dll" : "libcuda.so.1");
    return true;
  } catch {
    return false;
  }
}

describe.each(["node20", "node24"] as const)("%s", (name) => {
  const { path, missing } = packagedProgram(name);
  describe.skipIf(unavailable(name, missing))("is there", () => {
    /** Both kinds of choice, in an app that lacks something. */
    async function expectProblem(folder: string, problem: string | RegExp): Promise<void> {
      const asked = await outcome(path, folder, "cuda");
      expect(asked.problem).toMatch(problem);
      expect(asked.stderr).toBe("");
      const { backend, stderr } = await outcome(path, folder, "auto");
      expect(backend, '"auto"').toMatch(/^wasm/);
      expect(stderr).toBe("");
    }

    it.each([
      { lack: "koffi", folder: () => withoutKoffi, problem: "(cuda: the package koffi is not installed (npm install koffi))" },
      { lack: "a koffi that loads", folder: () => withBrokenKoffi, problem: "(cuda: the package koffi does not load: no program for this platform)" },
      { lack: "kernels", folder: () => withoutKernels, problem: "(cuda: this build of the package has no CUDA kernels)" },
    ])('without $lack: an error says so, and "auto" takes WebAssembly without a word', { timeout: TIMEOUT }, async ({ folder, problem }) => {
      await expectProblem(folder(), problem);
    });

    it('without a driver: an error says so, and "auto" takes WebAssembly without a word', { timeout: TIMEOUT }, async ({ skip }) => {
      skip(hasDriver(), "this machine has NVIDIA's driver");
      await expectProblem(withKoffi, /\(cuda: NVIDIA('s driver \(\S+\) was not found| has no driver for \w+)\)/);
    });

    describe.skipIf(unavailable("cuda", cudaReason))("with all of it", () => {
      it("gives the known answers, and ends by itself", { timeout: TIMEOUT }, async () => {
        expectRight(await reportOf(path, withKoffi, { backends: ["cuda"] }), ["cuda"]);
      });

      it("is what auto takes", { timeout: TIMEOUT }, async () => {
        expect(await outcome(path, withKoffi, "auto")).toEqual({ backend: "cuda", tokens: expectedTokens, stderr: "" });
      });

      itEnds(path, "cuda", () => withKoffi, () => expectedTokens);
    });
  });
});
