/**
 * Where the WebAssembly core comes from: the entry for each runtime says how to load it, and init() overrides that.
 * Modules are compiled once and shared by all samplers.
 */
import { describe } from "./describe.js";
import { isBuffer, ownBytes, typedArrayKind } from "./typed-arrays.js";

/** WebAssembly.Module, where the types of the runtime know it: those of Node alone do not. */
export type CompiledCore = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Module } } } ? Module : object;

/** "core" needs WebAssembly SIMD; "core.relaxed" also relaxed SIMD, and returns the same bits faster. */
export type CoreVariant = "core" | "core.relaxed";

/** How a runtime gets at its core modules. */
export interface Platform {
  readonly name: string;
  readonly variants: readonly CoreVariant[];
  loadCore(variant: CoreVariant): Promise<CompiledCore>;
  /** judge.wasm, for those who judge samplers; absent where nobody does. */
  loadJudge?(): Promise<CompiledCore>;
}

/** What init() takes: exactly one of these, of core.wasm or, where hasRelaxedSimd() says so, of core.relaxed.wasm. */
export interface CoreSource {
  /** compiled already, or imported as a module */
  readonly module?: CompiledCore;
  /** the file's content */
  readonly bytes?: ArrayBuffer | Uint8Array;
  /** where to fetch it */
  readonly url?: string | URL;
  /** an answer that carries it */
  readonly response?: Response | Promise<Response>;
}

let platform: Platform | null = null;
let givenModule: Promise<CompiledCore> | null = null;
let generation = 0;
const loaded = new Map<CoreVariant, Promise<CompiledCore>>();
let loadedJudge: Promise<CompiledCore | null> | null = null;

export function usePlatform(chosen: Platform): void {
  platform = chosen;
  loadedJudge = null;
}

/**
 * Hands over the WebAssembly core, for bundlers and runtimes that cannot find it themselves. Call it before createSampler.
 * @throws TypeError when source names none or several of module, bytes, url, response
 * @throws WebAssembly.CompileError, or an Error that shows what came instead of a WebAssembly file
 */
export async function init(source: CoreSource): Promise<void> {
  const kinds = (["module", "bytes", "url", "response"] as const).filter((kind) => source?.[kind] !== undefined);
  if (kinds.length !== 1) {
    throw new TypeError(`"source" expected exactly one of module, bytes, url, response, got ${kinds.join(" and ") || "none"}`);
  }
  const compiling = compileSource(source);
  checkExports(await compiling);
  givenModule = compiling;
  generation++;
}

/** How often init() has handed over a core: what was made from an earlier one is then out of date. */
export function coreGeneration(): number {
  return generation;
}

/** A few of what every core exports: enough to tell it from another module. */
const CORE_EXPORTS = ["setAreas", "setHead", "sampleBf16", "sampleLogits"];

function checkExports(module: CompiledCore): void {
  const names = new Set(WebAssembly.Module.exports(module as never).map(({ name }) => name));
  const missing = CORE_EXPORTS.find((name) => !names.has(name));
  if (missing !== undefined) throw new TypeError(`"source" expected the core of flash-sampling, got a module without its export ${missing}`);
}

async function compileSource({ module, bytes, url, response }: CoreSource): Promise<CompiledCore> {
  if (module !== undefined) {
    if (!(module instanceof WebAssembly.Module)) throw new TypeError(`"source.module" expected a WebAssembly.Module, got ${describe(module)}`);
    return module;
  }
  if (bytes !== undefined) {
    if (typedArrayKind(bytes) !== "Uint8Array" && !isBuffer(bytes)) {
      throw new TypeError(`"source.bytes" expected an ArrayBuffer or a Uint8Array, got ${describe(bytes)}`);
    }
    return compileCore(isBuffer(bytes) ? new Uint8Array(bytes) : ownBytes(bytes), "source.bytes");
  }
  if (url !== undefined) {
    if (typeof url !== "string" && !(url instanceof URL)) throw new TypeError(`"source.url" expected a string or a URL, got ${describe(url)}`);
    return fetchCore(url);
  }
  const answer = await response;
  if (typeof answer?.arrayBuffer !== "function") throw new TypeError(`"source.response" expected a Response, got ${describe(answer)}`);
  return compileResponse(answer, "source.response");
}

/** Fetches and compiles a core. */
export async function fetchCore(url: string | URL): Promise<CompiledCore> {
  // A query may hold a key: it stays out of messages.
  const name = String(url).replace(/[?#].*/s, "");
  const response = await fetch(url).catch((cause: Error) => {
    throw new Error(`"${name}" expected a WebAssembly file, got no answer: ${cause.message.replace(String(url), name)}`, { cause });
  });
  return compileResponse(response, name);
}

/** Compiles an HTTP answer; a wrong MIME type is no obstacle, a page instead of a file is named. */
async function compileResponse(response: Response, name: string): Promise<CompiledCore> {
  if (!response.ok) throw new Error(`"${name}" expected a WebAssembly file, got HTTP status ${response.status}`);
  return compileCore(new Uint8Array(await response.arrayBuffer()), name);
}

/** Compiles the bytes of a core file after a look at its magic word. */
export function compileCore(bytes: Uint8Array, name: string): Promise<CompiledCore> {
  const isWasm = bytes.length >= 8 && bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d;
  if (!isWasm) {
    const start = String.fromCharCode(...bytes.subarray(0, 16)).replace(/[^ -~]/g, ".");
    throw new Error(`"${name}" expected a WebAssembly file, got ${bytes.length} bytes that start with "${start}"`);
  }
  return WebAssembly.compile(bytes as BufferSource);
}

/** The reason why a variant cannot run here, or null. */
export function coreObstacle(variant: CoreVariant): string | null {
  if (givenModule !== null) return variant === "core" ? null : "init() handed over the core module to use";
  if (platform === null) return "no platform entry was loaded: import flash-sampling, or call init()";
  if (!platform.variants.includes(variant)) return `the ${platform.name} entry does not carry it`;
  if (variant === "core.relaxed" && !hasRelaxedSimd()) return "this runtime has no WebAssembly relaxed SIMD (Node 20 has it behind --experimental-wasm-relaxed-simd)";
  return null;
}

/** The compiled core of a variant. A failed load is forgotten, so that a later call tries again. */
export function coreModule(variant: CoreVariant): Promise<CompiledCore> {
  if (givenModule !== null) return givenModule;
  let module = loaded.get(variant);
  if (module === undefined) {
    module = platform!.loadCore(variant);
    loaded.set(variant, module);
    module.catch(() => loaded.delete(variant));
  }
  return module;
}

/** The compiled judge.wasm, or null where it cannot be had: what it does is done in JavaScript then. */
export function judgeModule(): Promise<CompiledCore | null> {
  return (loadedJudge ??= platform?.loadJudge?.().catch(() => null) ?? Promise.resolve(null));
}

/** One function of type () -> v128 that applies f32x4.relaxed_madd to three splats: valid only where the runtime knows it. */
const RELAXED_MADD_PROBE = Uint8Array.of(
  ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0], // magic, version 1
  ...[1, 5, 1, 0x60, 0, 1, 0x7b], // types: () -> v128
  ...[3, 2, 1, 0], // functions: one, of type 0
  ...[10, 19, 1, 17, 0], // code: one body, no locals
  ...[0x41, 0, 0xfd, 0x11, 0x41, 0, 0xfd, 0x11, 0x41, 0, 0xfd, 0x11], // three times i32x4.splat(0)
  ...[0xfd, 0x85, 0x02, 0x0b], // f32x4.relaxed_madd, end
);

/** Whether core.relaxed.wasm runs here: which of the two cores to give to init(). Both return the same bits. */
export function hasRelaxedSimd(): boolean {
  try {
    return WebAssembly.validate(RELAXED_MADD_PROBE);
  } catch {
    return false; // a runtime that refuses to look at bytes at all
  }
}
