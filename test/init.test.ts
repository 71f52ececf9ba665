/** Where the core comes from: what init() takes, what it refuses, and loads that fail and are tried again. */
import { readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type * as CoreModule from "../src/core-module.js";

const bytes = new Uint8Array(readFileSync(new URL("../build/core.wasm", import.meta.url)));
const PAGE = "<!doctype html><title>no such file</title>";
const type = (contentType: string) => ({ headers: { "content-type": contentType } });

let core: typeof CoreModule;
beforeEach(async () => {
  // Each test meets the modules as a program does that has just started.
  vi.resetModules();
  core = await import("../src/core-module.js");
});

/** The exports of what a backend would now get. */
async function givenExports(): Promise<string[]> {
  return WebAssembly.Module.exports(await core.coreModule("core")).map(({ name }) => name);
}
const EXPORTS = WebAssembly.Module.exports(new WebAssembly.Module(bytes)).map(({ name }) => name);

describe("init() takes", () => {
  it.each<[string, () => CoreModule.CoreSource]>([
    ["a module", () => ({ module: new WebAssembly.Module(bytes) })],
    ["bytes", () => ({ bytes })],
    ["bytes in a larger buffer", () => ({ bytes: new Uint8Array([7, 7, ...bytes, 7]).subarray(2, 2 + bytes.length) })],
    ["an ArrayBuffer", () => ({ bytes: bytes.slice().buffer })],
    ["a response", () => ({ response: new Response(bytes, type("application/wasm")) })],
    ["a promise of a response", () => ({ response: Promise.resolve(new Response(bytes, type("application/wasm"))) })],
    ["a response of another type", () => ({ response: new Response(bytes, type("text/plain")) })],
  ])("%s", async (_, source) => {
    expect(EXPORTS.length).toBeGreaterThan(3);
    expect(core.coreObstacle("core")).toMatch(/no platform entry/);
    await core.init(source());
    expect(core.coreObstacle("core")).toBeNull();
    expect(core.coreObstacle("core.relaxed")).toMatch(/init\(\)/);
    expect(await givenExports()).toEqual(EXPORTS);
  });

  describe("a URL", () => {
    let server: Server;
    let address: string;
    beforeAll(async () => {
      server = createServer(({ url }, response) => {
        if (url === "/core.wasm") response.setHeader("content-type", "application/wasm").end(bytes);
        else if (url === "/wrong-type.wasm") response.setHeader("content-type", "text/plain").end(bytes);
        else if (url === "/page.wasm") response.setHeader("content-type", "text/html").end(PAGE);
        else response.writeHead(404).end(PAGE);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    });
    afterAll(() => void server.close());

    it.each(["/core.wasm", "/wrong-type.wasm"])("%s, as text and as URL", async (path) => {
      for (const url of [address + path, new URL(path, address)]) {
        await core.init({ url });
        expect(await givenExports()).toEqual(EXPORTS);
      }
    });

    it("unless it is answered with a page or a status; then nothing is kept and the next one counts", async () => {
      const page = `"${address}/page.wasm" expected a WebAssembly file, got ${PAGE.length} bytes that start with "<!doctype html><"`;
      await expect(core.init({ url: `${address}/page.wasm` })).rejects.toThrow(page);
      await expect(core.init({ url: `${address}/none.wasm` })).rejects.toThrow(`"${address}/none.wasm" expected a WebAssembly file, got HTTP status 404`);
      expect(core.coreObstacle("core")).toMatch(/no platform entry/);
      await core.init({ url: `${address}/core.wasm` });
      expect(await givenExports()).toEqual(EXPORTS);
    });
  });
});

describe("init() refuses", () => {
  it.each<[string, unknown, typeof Error, RegExp]>([
    ["nothing", undefined, TypeError, /^"source" expected exactly one of module, bytes, url, response, got none$/],
    ["null", null, TypeError, /got none$/],
    ["an empty object", {}, TypeError, /got none$/],
    ["two sources", { bytes, url: "core.wasm" }, TypeError, /got bytes and url$/],
    ["another module", { module: {} }, TypeError, /^"source.module" expected a WebAssembly.Module, got Object$/],
    ["bytes that are text", { bytes: "AGFzbQ==" }, TypeError, /^"source.bytes" expected an ArrayBuffer or a Uint8Array, got "AGFzbQ=="$/],
    ["a number for a URL", { url: 7 }, TypeError, /^"source.url" expected a string or a URL, got 7$/],
    ["a URL that nobody answers", { url: "http://127.0.0.1:1/core.wasm" }, Error, /^"http:\/\/127.0.0.1:1\/core.wasm" expected a WebAssembly file, got no answer/],
    ["a module that is no core", { bytes: Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0) }, TypeError, /^"source" expected the core of flash-sampling, got a module without its export setAreas$/],
    ["no bytes", { bytes: new Uint8Array(0) }, Error, /^"source.bytes" expected a WebAssembly file, got 0 bytes/],
    ["a page", { bytes: new TextEncoder().encode(PAGE) }, Error, /start with "<!doctype html><"$/],
    ["a file cut inside its code", { bytes: bytes.subarray(0, bytes.length >> 1) }, WebAssembly.CompileError as never, /./],
    ["a response that is none", { response: {} }, TypeError, /^"source.response" expected a Response, got Object$/],
    ["a failed response", { response: new Response("", { status: 503 }) }, Error, /^"source.response" expected a WebAssembly file, got HTTP status 503$/],
  ])("%s", async (_, source, kind, message) => {
    const refused = core.init(source as CoreModule.CoreSource);
    await expect(refused).rejects.toThrow(kind);
    await expect(refused).rejects.toThrow(message);
    expect(core.coreObstacle("core")).not.toBeNull();
  });
});

describe("a platform's load", () => {
  it("that failed is tried again, and one that worked is not", async () => {
    const loadCore = vi.fn<CoreModule.Platform["loadCore"]>();
    loadCore.mockRejectedValueOnce(new Error("the network is down")).mockImplementation(async () => new WebAssembly.Module(bytes));
    core.usePlatform({ name: "test", variants: ["core"], loadCore });
    const [first, second] = [core.coreModule("core"), core.coreModule("core")];
    await expect(first).rejects.toThrow("the network is down");
    await expect(second).rejects.toThrow("the network is down");
    expect(loadCore).toHaveBeenCalledTimes(1);
    const loaded = await core.coreModule("core");
    expect(await core.coreModule("core")).toBe(loaded);
    expect(loadCore).toHaveBeenCalledTimes(2);
  });

  it("says which core an entry lacks", () => {
    core.usePlatform({ name: "test", variants: ["core"], loadCore: async () => new WebAssembly.Module(bytes) });
    expect(core.coreObstacle("core")).toBeNull();
    expect(core.coreObstacle("core.relaxed")).toBe("the test entry does not carry it");
  });
});
