/**
 * A file behind http(s) as a ByteSource, read as one long stream: "Range: bytes=N-", asked for anew on each jump.
 * A server that knows no ranges answers 200 with the whole file; then the bytes before N are read and dropped.
 * Limit: a connection that breaks is an error, not a retry.
 */
import { visible } from "../describe.js";
import { checkRange, type ByteSource } from "./source.js";

/** A jump ahead of at most this many bytes is read through: cheaper than a new request. */
const SKIP_LIMIT = 1 << 20;

interface Body {
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly controller: AbortController;
  readonly total: number;
  readonly hasRanges: boolean;
  /** Offset in the file of the first byte of rest. */
  position: number;
  /** Bytes received and not yet given out. */
  rest: Uint8Array;
}

/** @throws Error when the server does not answer with a file of a stated size */
export async function openUrl(url: URL, signal?: AbortSignal): Promise<ByteSource> {
  // Queries and credentials stay out of messages: they may hold a key.
  const name = url.origin + url.pathname;
  if (url.username !== "" || url.password !== "") throw new RangeError(`"${name}" expected a URL without user name and password, got one with them`);
  let body: Body | null = await request(url, name, 0, signal);
  const source: ByteSource = {
    name,
    size: body.total,
    async read(offset, target, signal) {
      checkRange(source, offset, target.length);
      signal?.throwIfAborted();
      if (body !== null && !reaches(body, offset)) {
        body.controller.abort();
        body = null;
      }
      body ??= await request(url, name, offset, signal);
      try {
        if (body.total !== source.size) throw new Error(`"${name}" expected ${source.size} bytes as before, got ${body.total}`);
        await fill(body, name, offset, target, signal);
      } catch (error) {
        body.controller.abort();
        body = null;
        throw error;
      }
    },
    sibling(sibling, signal) {
      const next = new URL(encodeURIComponent(sibling), url);
      next.search = url.search;
      return openUrl(next, signal);
    },
    async close() {
      body?.controller.abort();
      body = null;
    },
  };
  return source;
}

function reaches(body: Body, offset: number): boolean {
  const ahead = offset - body.position;
  return ahead >= 0 && (ahead <= SKIP_LIMIT || !body.hasRanges);
}

async function request(url: URL, name: string, offset: number, signal: AbortSignal | undefined): Promise<Body> {
  const controller = new AbortController();
  try {
    // With a Range header, fetch itself asks for an unencoded body.
    const response = await linked(signal, controller, () => fetch(url, { headers: { Range: `bytes=${offset}-` }, signal: controller.signal }));
    const { total, start } = checkResponse(response, name, offset);
    const reader = response.body!.getReader();
    return { reader, controller, total, hasRanges: response.status === 206, position: start, rest: new Uint8Array(0) };
  } catch (cause) {
    controller.abort();
    signal?.throwIfAborted();
    if (cause instanceof RefusedResponse) throw cause;
    throw new Error(`"${name}" expected an answer, got ${reasonOf(cause)}`, { cause });
  }
}

class RefusedResponse extends Error {}

/** Where the body starts in the file, and how long the file is. */
function checkResponse(response: Response, name: string, offset: number): { total: number; start: number } {
  const refuse = (expected: string, got: string): never => {
    throw new RefusedResponse(`"${name}" expected ${expected}, got ${got}`);
  };
  if (response.status !== 200 && response.status !== 206) refuse("HTTP 200 or 206", `HTTP ${response.status}`);
  const type = response.headers.get("content-type") ?? "";
  if (/^\s*text\/html/i.test(type)) refuse("a file", "an HTML page");
  const encoding = response.headers.get("content-encoding") ?? "identity";
  if (encoding !== "identity") refuse("a body without content encoding", encoding);
  if (response.body === null) refuse("a body", "none");
  const range = /^bytes (\d+)-\d+\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  const length = response.headers.get("content-length");
  const start = response.status === 200 ? 0 : range === null ? offset : Number(range[1]);
  if (start !== offset && response.status === 206) refuse(`bytes from ${offset} on`, `bytes from ${start} on`);
  // Pages of other origins may not see Content-Range, but always see Content-Length.
  const total = response.status === 206 && range !== null ? Number(range[2]) : length === null ? NaN : start + Number(length);
  if (!Number.isSafeInteger(total)) refuse("Content-Length or Content-Range", "neither: the size of the file is unknown");
  return { total, start };
}

async function fill(body: Body, name: string, offset: number, target: Uint8Array, signal: AbortSignal | undefined): Promise<void> {
  await linked(signal, body.controller, async () => {
    for (let done = 0; done < target.length; ) {
      signal?.throwIfAborted();
      if (body.rest.length === 0) body.rest = await nextChunk(body, name, signal);
      const wanted = offset + done - body.position;
      const dropped = Math.min(wanted, body.rest.length);
      const taken = Math.min(body.rest.length - dropped, target.length - done);
      target.set(body.rest.subarray(dropped, dropped + taken), done);
      body.rest = body.rest.subarray(dropped + taken);
      body.position += dropped + taken;
      done += taken;
    }
  });
}

async function nextChunk(body: Body, name: string, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const result = await body.reader.read().catch((cause: unknown) => {
    signal?.throwIfAborted();
    throw new Error(`"${name}" expected ${body.total} bytes, got ${body.position} and then ${reasonOf(cause)}`, { cause });
  });
  if (result.done) throw new Error(`"${name}" expected ${body.total} bytes, got ${body.position}`);
  return result.value;
}

/** Runs action with the caller's signal passed on to the controller, and no listener left behind. */
async function linked<Result>(signal: AbortSignal | undefined, controller: AbortController, action: () => Promise<Result>): Promise<Result> {
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    signal?.throwIfAborted();
    return await action();
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function reasonOf(cause: unknown): string {
  const { cause: inner, message } = cause as Error;
  return visible((inner as Error | undefined)?.message || message || String(cause));
}
