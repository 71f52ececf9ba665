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
    if (mode === undefined || bytes === null) return void response.writeHead(404).end();
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

/** Starts the browser with a new, empty profile. */
export async function openBrowser(executablePath: string): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
  return chromium.launch({ executablePath, headless: true, args });
}
