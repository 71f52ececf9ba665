/** A browser, and a server on 127.0.0.1 that can get the type of .wasm files wrong. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { chromium, type Browser } from "playwright-core";

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

export const HTML_ANSWER = "<!doctype html><title>not found, politely</title>";

export interface Site {
  /** without a slash at its end */
  readonly address: string;
  close(): void;
}

/**
 * Serves a folder three times: below /right; below /wrong with .wasm as text/plain; and below /page, where every .wasm is
 * answered with status 200 and a page, as servers of single-page apps do.
 */
export async function serve(folder: string): Promise<Site> {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url!, "http://localhost").pathname);
    const [, mode, rest] = /^\/(right|wrong|page)(\/.*)$/.exec(path) ?? [];
    const file = join(folder, normalize(rest ?? "/none"));
    const extension = extname(file);
    if (mode === "page" && extension === ".wasm") return void response.setHeader("content-type", "text/html").end(HTML_ANSWER);
    const bytes = await readFile(file).catch(() => null);
    if (mode === undefined || bytes === null) return void response.writeHead(404).end("not found");
    const type = mode === "wrong" && extension === ".wasm" ? "text/plain" : TYPES[extension];
    response.setHeader("content-type", type ?? "application/octet-stream").end(bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

const QUIET = ["--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const NO_GPU = ["--disable-gpu"];
/** WebGPU in software, the same on every machine. */
const SWIFTSHADER = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** Starts the browser with a new, empty profile; withWebgpu: with SwiftShader for its pages, else with no GPU at all. */
export async function openBrowser(executablePath: string, { withWebgpu = false } = {}): Promise<Browser> {
  return chromium.launch({ executablePath, headless: true, args: [...QUIET, ...(withWebgpu ? SWIFTSHADER : NO_GPU)] });
}

/** Why pages of this browser get no WebGPU adapter, or null. */
export async function adapterObstacle(executablePath: string): Promise<string | null> {
  const site = await serve("/");
  const browser = await openBrowser(executablePath, { withWebgpu: true });
  try {
    const page = await browser.newPage();
    await page.goto(site.address);
    const hasAdapter = await page.evaluate("navigator.gpu?.requestAdapter().then((adapter) => adapter !== null)");
    return hasAdapter === true ? null : "its pages get no WebGPU adapter";
  } finally {
    await browser.close();
    site.close();
  }
}
