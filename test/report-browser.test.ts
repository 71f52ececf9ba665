/** Reports in Chromium, opened as files without a network: what is seen at which width and in which colours, and that nothing runs. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { report } from "../src/verify/report/report.js";
import { corpusCheck, failedCheck, gof, hostile, invariance, otherInputs, passedCheck, replayed } from "./report-documents.js";
import { unavailable } from "./require.js";
import { openBrowser } from "./runtimes/chromium.js";
import { chromiumProgram } from "./runtimes/programs.js";

const TIMEOUT = 120_000;
const { path, missing } = chromiumProgram();
const FAILED = [failedCheck(), gof({ bias: 0.8 }), invariance(), corpusCheck(), replayed(), otherInputs()];
const PASSED = [passedCheck(), gof(), invariance(false), corpusCheck(true), replayed(true)];
/** Numbers at the ends of their ranges: zeros, ties, a p-value that no float holds, more ranges than fit. */
const ODD = [
  { ...passedCheck(), draws: passedCheck().draws.map((draw, row) => ({ ...draw, margin: row % 3 === 0 ? 0 : draw.margin })) },
  {
    ...gof(),
    passed: false,
    tests: gof().tests.map((test, index) => (index > 1 ? test : { ...test, name: "a test with a name that is longer than any line of the picture has room for, by far", pValue: 0, threshold: index * 1e-30, passed: false })),
    bins: gof().bins.map((bin, index) => (index % 7 === 6 ? { ...bin, observed: 0 } : bin)),
    tail: Array.from({ length: 30 }, (_, index) => ({ fromGap: index * 1.5, toGap: index * 1.5 + 1.5, expected: 1e5 / 3 ** index, observed: Math.round(1e5 / 3 ** index), z: index })),
    tokens: [{ token: Number.MAX_SAFE_INTEGER, expected: 1e-9, observed: 40, z: 1.3e6 }, ...gof().tokens.slice(1)],
  },
];
const PAGES = { failed: report(FAILED), passed: report(PASSED), odd: report(ODD), hostile: report(FAILED.map(hostile)) } as const;
type PageName = keyof typeof PAGES;

/** What a page says of itself. Runs in the browser. */
function inspect() {
  const isShown = (element: Element) => element.getBoundingClientRect().width > 0;
  const pictures = Array.from(document.querySelectorAll(".chart svg")).filter(isShown);
  const boxes = (picture: Element, selector: string) => Array.from(picture.querySelectorAll(selector), (element) => ({ text: element.textContent, ...element.getBoundingClientRect().toJSON() }) as DOMRect & { text: string });
  const meets = (a: DOMRect, b: DOMRect) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  const cut: string[] = [];
  const overlapping: string[] = [];
  for (const picture of pictures) {
    const frame = picture.getBoundingClientRect();
    // Names of tests may be as long as they like.
    for (const box of boxes(picture, "text:not(.row)")) if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) cut.push(box.text);
    const labels = boxes(picture, "text.number, text.title");
    labels.forEach((a, index) => labels.slice(index + 1).forEach((b) => meets(a, b) && overlapping.push(`${a.text} | ${b.text}`)));
  }
  return {
    figures: document.querySelectorAll("figure").length,
    wide: pictures.filter((picture) => picture.classList.contains("wide")).length,
    narrow: pictures.filter((picture) => picture.classList.contains("narrow")).length,
    tooWide: document.documentElement.scrollWidth - innerWidth,
    letters: Math.min(...pictures.map((picture) => picture.querySelector("text")!.getBoundingClientRect().height)),
    cut,
    overlapping,
  };
}

/** The least contrast (WCAG 2) of texts and of marks with what they stand on. Runs in the browser. */
function contrasts() {
  const channels = (color: string) => /rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)/.exec(color)?.slice(1).map((text) => (text === undefined ? 1 : Number(text))) ?? null;
  const luminance = ([red, green, blue]: number[]) => {
    const [r, g, b] = [red!, green!, blue!].map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const behind = (element: Element): number[] => {
    for (let at: Element | null = element; at !== null; at = at.parentElement) {
      const color = channels(getComputedStyle(at).backgroundColor);
      if (color !== null && color[3] !== 0) return color;
    }
    return [255, 255, 255];
  };
  const least = (selector: string, property: "color" | "fill" | "stroke", ground: (element: Element) => number[]) =>
    Math.min(
      ...Array.from(document.querySelectorAll(selector)).flatMap((element) => {
        const color = channels(getComputedStyle(element)[property]);
        if (color === null) return [];
        const [a, b] = [luminance(color), luminance(ground(element))].sort((x, y) => y - x);
        return (a! + 0.05) / (b! + 0.05);
      }),
    );
  const band = () => channels(getComputedStyle(document.querySelector(".chart .band")!).fill)!;
  return {
    text: Math.min(least("h1, h2, h3, p, td, th, dt, dd, li, summary, a, figcaption, pre, mark, .outcome", "color", behind), least("svg text", "fill", behind)),
    marks: Math.min(least("path.observed, path.wrong, path.near-tie", "stroke", behind), least("path.observed, path.wrong, path.near-tie", "stroke", band), least("rect.observed, rect.wrong, rect.exact, rect.near-tie", "fill", behind)),
  };
}

describe.skipIf(unavailable("chromium", missing))("chromium", () => {
  const folder = mkdtempSync(join(tmpdir(), "flash-sampling-report-"));
  let browser: Browser;
  beforeAll(async () => {
    for (const [name, page] of Object.entries(PAGES)) writeFileSync(join(folder, `${name}.html`), page);
    browser = await openBrowser(path);
  }, TIMEOUT);
  afterAll(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Opens a page without a network; no page may say anything on the console, or ask for anything but itself. */
  async function withPage(name: PageName, { width = 1400, colorScheme = "light" as "light" | "dark" }, use: (page: Page) => Promise<void>): Promise<void> {
    const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline: true });
    const address = pathToFileURL(join(folder, `${name}.html`)).href;
    const said: string[] = [];
    try {
      const page = await context.newPage();
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(String(error)));
      page.on("dialog", (dialog) => said.push(dialog.message()));
      page.on("request", (request) => request.url() === address || said.push(request.url()));
      await page.goto(address);
      await use(page);
      expect(said).toEqual([]);
    } finally {
      await context.close();
    }
  }

  describe.each<PageName>(["failed", "passed", "odd", "hostile"])("%s", (name) => {
    it.each([320, 700, 1400])("is whole and legible at a width of %i", { timeout: TIMEOUT }, async (width) => {
      await withPage(name, { width }, async (page) => {
        const { figures, wide, narrow, tooWide, letters, cut, overlapping } = await page.evaluate(inspect);
        expect(figures).toBeGreaterThanOrEqual(5);
        expect([wide, narrow]).toEqual(width < 400 ? [0, figures] : [figures, 0]);
        expect(tooWide).toBeLessThanOrEqual(0);
        expect(letters).toBeGreaterThan(11);
        expect(cut).toEqual([]);
        expect(overlapping).toEqual([]);
      });
    });
  });

  it.each(["light", "dark"] as const)("has enough contrast in %s colours", { timeout: TIMEOUT }, async (colorScheme) => {
    await withPage("failed", { colorScheme }, async (page) => {
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe(colorScheme === "light" ? "rgb(255, 255, 255)" : "rgb(20, 23, 27)");
      const { text, marks } = await page.evaluate(contrasts);
      expect(text).toBeGreaterThanOrEqual(4.5);
      expect(marks).toBeGreaterThanOrEqual(3);
    });
  });

  it("prints in light colours, without what cannot be opened on paper", { timeout: TIMEOUT }, async () => {
    await withPage("failed", { colorScheme: "dark" }, async (page) => {
      await page.emulateMedia({ media: "print" });
      expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).toBe("rgb(255, 255, 255)");
      expect(await page.locator("summary:visible").count()).toBe(0);
    });
  });

  it("shows its pictures to those who hear them, each with its numbers", { timeout: TIMEOUT }, async () => {
    await withPage("failed", {}, async (page) => {
      expect(await page.getByRole("img").count()).toBe(6);
      expect(await page.getByRole("img", { name: "Gap against allowed error: 67 draws that differ from the expected ones: 32 wrong, 35 near-ties.", exact: true }).count()).toBe(1);
      for (const details of await page.locator("details").all()) await details.locator("summary").click();
      expect(await page.locator("figure table:visible").count()).toBe(6);
      expect(await page.getByRole("region", { name: "Bins: expected and observed counts" }).getByRole("row").count()).toBe(401);
    });
  });

  it("shows hostile text as text, and runs nothing of it", { timeout: TIMEOUT }, async () => {
    await withPage("hostile", {}, async (page) => {
      await page.waitForTimeout(200);
      expect(await page.evaluate("typeof globalThis.pwned")).toBe("undefined");
      expect(await page.evaluate("document.querySelectorAll('script, img, iframe, [onerror]').length")).toBe(0);
      expect(await page.title()).toBe("Sampling report: 6 of 6 failed");
      const seen = "</title></style></svg></script><script>globalThis.pwned = 1</script><img src=x onerror=\"globalThis.pwned = 2\">\"'&amp;`${1}\\u{202e}סוף\\u{2066}\\u{0}\\u{1b}[31m";
      expect(await page.locator("h2").first().textContent()).toBe(`1. Check of ${seen}`);
      expect(await page.locator("pre").textContent()).toBe(seen);
    });
  });

  it("would see a script that ran", { timeout: TIMEOUT }, async () => {
    const page = await browser.newPage();
    await page.setContent("<img src=x onerror='globalThis.pwned = 2'>");
    await page.waitForFunction("globalThis.pwned === 2");
    await page.close();
  });
});
