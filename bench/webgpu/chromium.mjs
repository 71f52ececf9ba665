/**
 * Whether the WebGPU backend decides as the oracle does in a page of Chromium, on SwiftShader:
 *   node bench/webgpu/chromium.mjs [--problems 10000] [--first 0] [--stories FOLDER] [--backends webgpu,wasm]
 * The same comparison as exactness.mjs, both sides of it in the page; the same part of the problems has the same digest in both.
 * How far it is goes to stderr, and so does a difference as soon as it is found. Exit code 1 when one differs, 2 for an option that is no number.
 */
import { dirname } from "node:path";
import { parseArgs } from "node:util";
import { buildWasm } from "../../scripts/build-wasm.mjs";
import { bundle, modules, wholeNumber } from "../bundle.mjs";

const { values: options } = parseArgs({
  options: {
    problems: { type: "string", default: "10000" },
    first: { type: "string", default: "0" },
    stories: { type: "string" },
    backends: { type: "string", default: "webgpu" },
  },
});
const [problems, first] = ["problems", "first"].map((name) => wholeNumber(options, name));
const backends = options.backends.split(",");
/** Problems from one line about how far it is to the next. */
const STRIDE = 100;

const { chromiumProgram, openBrowser, readCheckpoint, reportProblems, reportStories, serve, STORY_DTYPES } = await modules(
  "chromium",
  `
  export { chromiumProgram } from "./test/runtimes/programs.ts";
  export { openBrowser, serve } from "./test/runtimes/chromium.ts";
  export { readCheckpoint } from "./examples/stories/checkpoint.ts";
  export { reportProblems, reportStories, STORY_DTYPES } from "./bench/webgpu/comparison.ts";
`,
);

/** Of what it imports from Node's own modules nothing is left once the bundler has left out what is not used. */
const pageFile = await bundle(
  "page",
  `
  import { usePlatform } from "./src/core-module.ts";
  import { browserPlatform } from "./src/platform/browser.ts";
  usePlatform(browserPlatform);
  import { useGpuPlatform } from "./src/gpu-platform.ts";
  import { navigatorGpu } from "./src/platform/navigator-gpu.ts";
  useGpuPlatform(navigatorGpu);
  import { compareProblem, compareStories } from "./bench/webgpu/comparison.ts";
  Object.assign(globalThis, { compareProblem, compareStories });
`,
);

await buildWasm();
await inPage(async (page) => {
  let wrong = 0;
  if (options.stories !== undefined) wrong += await allStories(page, options.stories);
  if (problems > 0) wrong += await allProblems(page);
  process.exitCode = wrong === 0 ? 0 : 1;
});

/** Opens a page that has the bundle's functions. The cores lie beside the bundle. */
async function inPage(use) {
  const { path, missing } = chromiumProgram();
  if (missing !== null) throw new Error(`Chromium is ${missing}`);
  const site = await serve(dirname(pageFile));
  const browser = await openBrowser(path, { withWebgpu: true });
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => console.error(error));
    await page.goto(`${site.address}/right/`);
    await page.addScriptTag({ path: pageFile, type: "module" });
    await page.waitForFunction("globalThis.compareProblem", undefined, { timeout: 20_000 });
    await use(page);
  } finally {
    await browser.close();
    site.close();
  }
}

async function allProblems(page) {
  const started = performance.now();
  const compared = [];
  for (let index = first; index < first + problems; index++) {
    const found = await page.evaluate(([index, backends]) => compareProblem(index, backends), [index, backends]);
    for (const difference of found.differences) console.error(difference);
    compared.push(found);
    if (compared.length % STRIDE !== 0) continue;
    const perSecond = compared.length / ((performance.now() - started) / 1000);
    console.error(`${compared.length} of ${problems} problems, ${perSecond.toFixed(1)} a second`);
  }
  return reportProblems(compared, `${options.backends} in Chromium`);
}

async function allStories(page, folder) {
  const checkpoint = await readCheckpoint(`${folder}/stories260K.bin`);
  let wrong = 0;
  for (const dtype of STORY_DTYPES) {
    const compared = await page.evaluate(([checkpoint, dtype]) => compareStories(checkpoint, dtype, "webgpu"), [checkpoint, dtype]);
    wrong += reportStories(compared, " in Chromium");
  }
  return wrong;
}
