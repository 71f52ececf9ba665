import { mkdtemp, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { openSource, readBytes, type ByteSource } from "../src/head/source.js";
import { messageOf, serveRange, withServer } from "./head-fixtures.js";

const content = Uint8Array.from({ length: 3_000_000 }, (_, index) => (index * 7 + (index >> 8) * 13) & 255);
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "head-source-"));
  await writeFile(join(folder, "content.bin"), content);
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads pieces here and there, ahead and back, and compares each byte. */
async function checkReads(source: ByteSource): Promise<void> {
  expect(source.size).toBe(content.length);
  for (const [offset, length] of [[0, 8], [8, 100], [108, 0], [200_000, 70_000], [2_999_999, 1], [5, 5], [0, content.length]] as const) {
    const bytes = await readBytes(source, offset, length);
    expect(Buffer.compare(bytes, content.subarray(offset, offset + length)), `${length} bytes at ${offset}`).toBe(0);
  }
  await expect(source.read(content.length, new Uint8Array(1))).rejects.toThrow(/expected a range inside its 3000000 bytes, got 1 bytes at offset 3000000/);
  // Were the memory made first, this would end as an allocation failure.
  await expect(readBytes(source, 0, 2 ** 52)).rejects.toThrow(/expected a range inside/);
  await expect(readBytes(source, -1, 1)).rejects.toThrow(/expected a range inside/);
  await expect(readBytes(source, 0.5, 1)).rejects.toThrow(/expected a range inside/);
  await expect(readBytes(source, 2 ** 53, 2 ** 53)).rejects.toThrow(/expected a range inside/);
  const aborted = AbortSignal.abort();
  await expect(source.read(0, new Uint8Array(1), aborted)).rejects.toMatchObject({ name: "AbortError" });
}

describe("sources", () => {
  const shared = new SharedArrayBuffer(content.length);
  new Uint8Array(shared).set(content);
  const padded = new Uint8Array(content.length + 3);
  padded.set(content, 3);
  const inputs = {
    "Uint8Array with an offset": () => padded.subarray(3),
    ArrayBuffer: () => content.buffer,
    SharedArrayBuffer: () => shared,
    Blob: () => new Blob([content]),
    File: () => new File([content], "content.bin"),
    path: () => join(folder, "content.bin"),
    "file: text": () => pathToFileURL(join(folder, "content.bin")).href,
    "file: URL": () => pathToFileURL(join(folder, "content.bin")),
  };
  test.each(Object.entries(inputs))("%s gives its bytes", async (_, input) => {
    const source = await openSource(input());
    await checkReads(source);
    await source.close();
  });

  test("a source passes through, and another kind is refused", async () => {
    const source = await openSource(content);
    expect(await openSource(source)).toBe(source);
    expect(await messageOf(() => openSource(7 as never))).toBe('TypeError: "source" expected a path, URL, Blob, list of Files or bytes, got 7');
    expect(await messageOf(() => openSource(null as never))).toMatch(/got null$/);
    expect(await messageOf(() => openSource("ftp://host/x"))).toBe('RangeError: "source" expected a path or a file:, http: or https: URL, got ftp:');
  });

  test("files: absent, a directory, and one that shrinks while it is read", async () => {
    expect(await messageOf(() => openSource(join(folder, "absent")))).toMatch(/absent" expected a readable file, got ENOENT$/);
    expect(await messageOf(() => openSource(folder))).toMatch(/expected a file, got a directory: name a file in it$/);
    const path = join(folder, "shrinking.bin");
    await writeFile(path, content);
    const source = await openSource(path);
    await truncate(path, 1000);
    expect(await messageOf(() => readBytes(source, 0, 2000))).toMatch(/expected 3000000 bytes as when it was opened, got 1000$/);
    await source.close();
  });

  test.each([false, true])("a file is read into WebAssembly memory in place (shared: %s)", async (shared) => {
    const memory = new WebAssembly.Memory({ initial: 64, maximum: 64, shared });
    const source = await openSource(join(folder, "content.bin"));
    await source.read(1000, new Uint8Array(memory.buffer, 4096, 2_000_000));
    expect(Buffer.compare(new Uint8Array(memory.buffer, 4096, 2_000_000), content.subarray(1000, 2_001_000))).toBe(0);
    expect(new Uint8Array(memory.buffer, 4090, 6)).toEqual(new Uint8Array(6));
    await source.close();
  });

  test("without local files, a path is an address relative to the page", async () => {
    await withServer((request, response) => serveRange(content, request, response), async (base, requests) => {
      vi.stubGlobal("process", { versions: {} });
      try {
        vi.stubGlobal("location", { href: `${base}/app/page.html` });
        await (await openSource("models/x.safetensors")).close();
        expect(requests).toEqual(["/app/models/x.safetensors bytes=0-"]);
      } finally {
        vi.unstubAllGlobals();
      }
    });
  });

  test("a list of files stands for a folder", async () => {
    const index = new File(["{}"], "model.safetensors.index.json");
    const source = await openSource([new File([content], "a.safetensors"), index]);
    expect(source.name).toBe(index.name);
    await checkReads(await source.sibling!("a.safetensors"));
    expect(await messageOf(() => source.sibling!("b.safetensors"))).toMatch(/expected a file named b.safetensors in the list, got none/);
    expect(await messageOf(() => openSource([index, index].map(() => new File([], "x"))))).toMatch(/got 2 files$/);
  });
});

describe("http", () => {
  test("with ranges: a jump is a new request, what follows is not", async () => {
    await withServer((request, response) => serveRange(content, request, response), async (base, requests) => {
      const source = await openSource(`${base}/model.safetensors?key=secret`);
      expect(source.name).toBe(`${base}/model.safetensors`);
      await readBytes(source, 0, 8);
      await readBytes(source, 8, 1000);
      await readBytes(source, 2000, 1000);
      expect(requests).toEqual(["/model.safetensors?key=secret bytes=0-"]);
      await readBytes(source, 2_900_000, 10);
      expect(requests.at(-1)).toBe("/model.safetensors?key=secret bytes=2900000-");
      await checkReads(source);
      const sibling = await source.sibling!("model-00001-of-00002.safetensors");
      expect(requests.at(-1)).toBe("/model-00001-of-00002.safetensors?key=secret bytes=0-");
      await sibling.close();
      await source.close();
    });
  });

  test("without ranges: skips to the place", async () => {
    await withServer((_, response) => response.end(content), async (base, requests) => {
      const source = await openSource(new URL(`${base}/x`));
      await readBytes(source, 0, 8);
      await readBytes(source, 2_500_000, 8);
      expect(requests.length).toBe(1);
      await checkReads(source);
      await source.close();
    });
  });

  test("a range whose Content-Range cannot be seen counts by Content-Length", async () => {
    const answer = (start: number) => ({ "Content-Length": content.length - start });
    await withServer((request, response) => {
      const start = Number(/\d+/.exec(request.headers.range!)![0]);
      response.writeHead(206, answer(start)).end(content.subarray(start));
    }, async (base) => {
      const source = await openSource(`${base}/x`);
      await checkReads(source);
      await source.close();
    });
  });

  test.each([
    ["404", 404, {}, "x", 'expected HTTP 200 or 206, got HTTP 404'],
    ["HTML page", 200, { "Content-Type": "text/html; charset=utf-8" }, "<html>", "expected a file, got an HTML page"],
    ["encoded body", 200, { "Content-Encoding": "gzip" }, "x", "expected a body without content encoding, got gzip"],
    ["another range", 206, { "Content-Range": "bytes 5-9/10" }, "xxxxx", "expected bytes from 0 on, got bytes from 5 on"],
    ["no size", 200, { "Transfer-Encoding": "chunked" }, "x", "expected Content-Length or Content-Range, got neither: the size of the file is unknown"],
  ])("refuses: %s", async (_, status, headers, body, message) => {
    await withServer((_, response) => response.writeHead(status, headers).end(body), async (base) => {
      expect(await messageOf(() => openSource(`${base}/x`))).toBe(`Error: "${base}/x" ${message}`);
    });
  });

  test("nobody listens", async () => {
    const gone = await withServer(() => {}, async (base) => base);
    expect(await messageOf(() => openSource(gone))).toMatch(/expected an answer, got .*ECONNREFUSED/);
  });

  test("a body that ends early, and a file that changes between requests", async () => {
    await withServer((_, response) => {
      response.writeHead(200, { "Content-Length": content.length });
      response.write(content.subarray(0, 1000), () => response.destroy());
    }, async (base) => {
      const source = await openSource(`${base}/x`);
      expect(await messageOf(() => readBytes(source, 0, 2000))).toMatch(/expected 3000000 bytes, got (0|1000) and then /);
    });
    let file = content;
    await withServer((request, response) => serveRange(file, request, response), async (base) => {
      const source = await openSource(`${base}/x`);
      file = content.subarray(0, 2_000_000);
      expect(await messageOf(() => readBytes(source, 1_500_000, 10))).toMatch(/expected 3000000 bytes as before, got 2000000$/);
    });
  });

  test("an abort ends a read that waits, and leaves the source usable", async () => {
    let stall = true;
    await withServer((request, response) => {
      if (!stall) return serveRange(content, request, response);
      response.writeHead(200, { "Content-Length": content.length });
      response.write(content.subarray(0, 1000));
    }, async (base) => {
      const source = await openSource(`${base}/x`);
      const controller = new AbortController();
      const reading = readBytes(source, 0, 2000, controller.signal);
      setTimeout(() => controller.abort(), 20);
      await expect(reading).rejects.toMatchObject({ name: "AbortError" });
      stall = false;
      expect(Buffer.compare(await readBytes(source, 0, 2000), content.subarray(0, 2000))).toBe(0);
      await source.close();
    });
  });

  test("an abort ends a request without an answer", async () => {
    await withServer(() => {}, async (base) => {
      await expect(openSource(`${base}/x`, AbortSignal.timeout(20))).rejects.toMatchObject({ name: "TimeoutError" });
    });
  });
});
