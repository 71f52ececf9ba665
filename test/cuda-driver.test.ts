/** What is made of NVIDIA's driver, with one that answers as it is told: what is missing, contexts, memory of callers, and giving all back. */
import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { assertMemory, assertStream } from "../gpu/cuda/caller-memory.js";
import { CudaDriver } from "../gpu/cuda/driver.js";
import { DeviceMemory, StagingMemory } from "../gpu/cuda/memory.js";
import { canScreen } from "../gpu/cuda/screened.js";

/** A file of kernels that is whole. */
const FATBIN = Uint8Array.from({ length: 32 }, (_, index) => index);
const KERNELS = Uint8Array.of(...FATBIN, ...createHash("sha256").update(FATBIN).digest());
const MIB = 1n << 20n;

type Answer = (...args: never[]) => number;

const fake = vi.hoisted(() => ({ answers: {} as Record<string, Answer>, asked: [] as string[], missing: "", loadError: "" }));
vi.mock("koffi", () => ({
  default: {
    load: () => {
      if (fake.loadError !== "") throw new Error(fake.loadError);
      const func = (prototype: string) => {
        const name = /^int (\w+)\(/.exec(prototype)![1]!;
        if (name === fake.missing) throw new Error(`Cannot find function '${name}' in shared library`);
        return (...args: never[]) => (fake.asked.push(name), fake.answers[name]?.(...args) ?? 0);
      };
      return { func };
    },
    address: () => 4096n,
    view: (_: bigint, bytes: number) => new ArrayBuffer(bytes),
    decode: { string: () => "CUDA_ERROR" },
  },
}));

const times = (name: string): number => fake.asked.filter((asked) => asked === name).length;
/** Writes a value to a call's first argument. */
const giving = (value: bigint | number): Answer => (target: BigUint64Array | Int32Array) => ((target[0] = value as never), 0);
/** Compute capability 9.0, and how many multiprocessors. */
const CAPABILITY: Record<number, number> = { 75: 9, 76: 0, 16: 132 };

/** Memory in pieces, as the driver describes it: [from, bytes of the piece, of the whole allocation from its start, access]. */
interface Piece {
  readonly from: bigint;
  readonly bytes: bigint;
  readonly start: bigint;
  readonly size: bigint;
  readonly access?: bigint;
  readonly type?: bigint;
  readonly device?: bigint;
}

function describeMemory(pieces: readonly Piece[]): void {
  fake.answers["cuPointerGetAttribute"] = (target: BigUint64Array, which: number, address: bigint) => {
    const piece = pieces.find(({ from, bytes }) => address >= from && address < from + bytes);
    if (piece === undefined) return 1;
    const { from, bytes, start, size, access = 3n, type = 2n, device = 0n } = piece;
    target[0] = { 2: type, 9: device, 11: start, 12: size, 16: access, 18: bytes, 19: from }[which]!;
    return 0;
  };
}

beforeEach(() => {
  let next = 1n;
  const allocating: Answer = (target: BigUint64Array) => giving(0x10000n * next++)(target as never);
  CAPABILITY[75] = 9;
  fake.asked = [];
  fake.missing = fake.loadError = "";
  fake.answers = {
    cuDeviceGetCount: giving(1),
    cuDeviceGetAttribute: (target: Int32Array, which: number) => ((target[0] = CAPABILITY[which]!), 0),
    cuDevicePrimaryCtxRetain: giving(77n),
    cuMemAlloc_v2: allocating,
    cuMemHostAlloc: allocating,
    cuStreamGetCtx: (_: bigint, target: BigUint64Array) => ((target[0] = 77n), 0),
  };
});

describe("what is missing is told", () => {
  const cases: readonly (readonly [string, () => void, RegExp])[] = [
    ["no driver", () => (fake.loadError = "libcuda.so.1: cannot open shared object file: No such file or directory"), /^NVIDIA's driver \((libcuda\.so\.1|nvcuda\.dll)\) was not found$/],
    ["a driver that does not load", () => (fake.loadError = "libcuda.so.1: file too short"), /does not load: libcuda\.so\.1: file too short$/],
    ["an old driver", () => (fake.missing = "cuLaunchKernelEx"), /is too old: it has no cuLaunchKernelEx$/],
    ["no device that is visible", () => (fake.answers["cuInit"] = () => 100), /^NVIDIA's driver has no device$/],
    ["no device", () => (fake.answers["cuDeviceGetCount"] = giving(0)), /^NVIDIA's driver has no device$/],
    ["a device that is too old", () => (CAPABILITY[75] = 7), /^the kernels need compute capability 8\.0 or more, got .*compute capability 7\.0$/],
    ["a driver that does not start", () => (fake.answers["cuInit"] = () => 999), /^cuInit expected success, got error 999$/],
  ];
  test.skipIf(process.platform === "darwin").each(cases)("%s", async (_, prepare, message) => {
    prepare();
    await expect(CudaDriver.open(KERNELS)).rejects.toThrow(message);
    expect(times("cuDevicePrimaryCtxRetain")).toBe(0);
  });

  test("damaged kernels, before the driver is asked", async () => {
    await expect(CudaDriver.open(KERNELS.subarray(0, 63))).rejects.toThrow(/kernels are damaged/);
    expect(fake.asked).toEqual([]);
  });

  test.each(["cuModuleLoadData", "cuStreamCreate", "cuEventCreate"])("a context that is of no use is given back (%s)", async (name) => {
    fake.answers[name] = () => 209;
    await expect(CudaDriver.open(KERNELS)).rejects.toMatchObject({ name: "GpuError", kind: "refused" });
    expect([times("cuDevicePrimaryCtxRetain"), times("cuDevicePrimaryCtxRelease_v2")]).toEqual([1, 1]);
    expect(times("cuCtxPushCurrent_v2")).toBe(times("cuCtxPopCurrent_v2"));
  });

  test("a context that there is no memory for is not given back", async () => {
    fake.answers["cuDevicePrimaryCtxRetain"] = () => 2;
    await expect(CudaDriver.open(KERNELS)).rejects.toMatchObject({ kind: "out-of-memory" });
    expect(times("cuDevicePrimaryCtxRelease_v2")).toBe(0);
  });
});

describe("a driver", () => {
  test("leaves the caller's context current, also after errors", async () => {
    const driver = await CudaDriver.open(KERNELS);
    describeMemory([]);
    const work = [() => driver.allocate(64, "a test"), () => driver.free(1n), () => driver.allocatePinned(8), () => driver.clear(1n, 8), () => driver.upload(1n, new Uint8Array(8)), () => driver.memoryAt(64n)];
    const more = [() => driver.streamObstacle(0n), () => driver.waitFor(0n), () => driver.letWait(0n), () => driver.launch("name", { grid: [1, 1], threads: 32, parameters: [] }), () => driver.architectureOf("name"), () => driver.finish()];
    for (const status of [0, 2, 700]) {
      for (const name of ["cuMemAlloc_v2", "cuMemFree_v2", "cuMemHostAlloc", "cuMemsetD8Async", "cuMemcpyHtoDAsync_v2", "cuEventRecord", "cuModuleGetFunction", "cuStreamQuery"]) if (status > 0) fake.answers[name] = () => status;
      for (const step of [...work, ...more]) await Promise.resolve().then(step).catch(() => {});
      expect(times("cuCtxPushCurrent_v2")).toBeGreaterThan(0);
      expect(times("cuCtxPushCurrent_v2")).toBe(times("cuCtxPopCurrent_v2"));
    }
    expect(fake.asked).not.toContain("cuCtxSetCurrent");
  });

  test("gives back what is held, and nothing twice", async () => {
    const driver = await CudaDriver.open(KERNELS);
    const freed: bigint[] = [];
    for (const name of ["cuMemFree_v2", "cuMemFreeHost"]) fake.answers[name] = (address: bigint) => (freed.push(address), 0);
    const [first, second, pinned] = [driver.allocate(8, "a test"), driver.allocate(8, "a test"), driver.allocatePinned(8)];
    driver.free(first);
    driver.close();
    expect(freed).toEqual([first, second, pinned.address]);
    for (const name of ["cuStreamDestroy_v2", "cuEventDestroy_v2", "cuModuleUnload", "cuDevicePrimaryCtxRelease_v2"]) expect(times(name)).toBe(1);
  });

  test("closes without an error when the device failed", async () => {
    const driver = await CudaDriver.open(KERNELS);
    fake.answers["cuStreamSynchronize"] = () => 700;
    driver.close();
  });

  test.each([
    [9, 90, true],
    [9, 80, false], // CUDA_FORCE_PTX_JIT
    [8, 80, false],
    [10, 90, false],
  ])("of capability %i.0 with kernels for %i screens: %s", async (major, architecture, expected) => {
    CAPABILITY[75] = major;
    fake.answers["cuFuncGetAttribute"] = giving(architecture);
    expect(canScreen(await CudaDriver.open(KERNELS))).toBe(expected);
  });
});

describe("memory that grows", () => {
  test("has room to spare, but little of much, and gives the old back before it takes the new", async () => {
    const sizes: number[] = [];
    fake.answers["cuMemAlloc_v2"] = fake.answers["cuMemHostAlloc"] = (target: BigUint64Array, bytes: number) => (sizes.push(bytes), giving(64n)(target as never));
    const driver = await CudaDriver.open(KERNELS);
    for (const memory of [new DeviceMemory(driver, "a test"), new StagingMemory(driver)]) {
      sizes.length = 0;
      for (const bytes of [100, 200, 201, 256 << 20, 270 << 20]) memory.reserve(bytes);
      expect(sizes).toEqual([200, 402, 288 << 20]);
    }
    expect(fake.asked.filter((name) => name === "cuMemFree_v2" || name === "cuMemAlloc_v2")).toEqual(["cuMemAlloc_v2", "cuMemFree_v2", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemAlloc_v2"]);
  });

  test("can be asked again after there was no room", async () => {
    const driver = await CudaDriver.open(KERNELS);
    const { cuMemAlloc_v2, cuMemHostAlloc } = fake.answers;
    for (const memory of [new DeviceMemory(driver, "a test"), new StagingMemory(driver)]) {
      memory.reserve(100);
      fake.answers["cuMemAlloc_v2"] = fake.answers["cuMemHostAlloc"] = () => 2;
      for (let count = 0; count < 2; count++) expect(() => memory.reserve(1000)).toThrow(expect.objectContaining({ kind: "out-of-memory" }));
      Object.assign(fake.answers, { cuMemAlloc_v2, cuMemHostAlloc });
      memory.reserve(1000);
    }
    expect([times("cuMemFree_v2"), times("cuMemFreeHost")]).toEqual([1, 1]);
  });
});

describe("memory of callers", () => {
  const at = 0x7f0000000000n;
  const whole = { start: at, size: 8n * MIB };
  const pieces: readonly Piece[] = [
    { from: at, bytes: 2n * MIB, ...whole },
    { from: at + 2n * MIB, bytes: 2n * MIB, ...whole },
    { from: at + 4n * MIB, bytes: MIB, ...whole, access: 1n },
    { from: at + 6n * MIB, bytes: MIB, ...whole, access: 0n },
    { from: 2n * at, bytes: 2n * MIB, start: 2n * at, size: 640n }, // small, in a larger mapping
    { from: 3n * at, bytes: MIB, start: 3n * at, size: MIB, type: 1n },
    { from: 4n * at, bytes: MIB, start: 4n * at, size: MIB, device: 1n },
  ];
  type Case = readonly [what: string, pointer: bigint, bytes: number, reading: RegExp | null, writing: RegExp | null];
  const cases: readonly Case[] = [
    ["one piece", at + 64n, 1 << 20, null, null],
    ["two pieces", at + MIB, 3 << 20, null, null],
    ["a piece that is only read", at + 4n * MIB, 16, null, /may write, got 0x7f0000400000/],
    ["over a border of rights", at + MIB, (3 << 20) + 4, null, /expected 3145732 bytes of memory, got 3145728 from/],
    ["over a gap", at + MIB, (4 << 20) + 4, /expected 4194308 bytes of memory, got 4194304 from/, /got 3145728 from/],
    ["a gap", at + 5n * MIB, 4, /got 0x7f0000500000, which is none/, /which is none/],
    ["no rights", at + 6n * MIB, 4, /may read, got 0x7f0000600000/, /may write/],
    ["a small allocation", 2n * at + 600n, 40, null, null],
    ["past a small allocation", 2n * at + 600n, 44, /expected 44 bytes of memory, got 40 from/, /got 40 from/],
    ["memory of the host", 3n * at, 4, /which is none/, /which is none/],
    ["memory of another device", 4n * at, 4, /which is none/, /which is none/],
    ["nothing", 64n, 4, /got 0x40, which is none/, /which is none/],
  ];
  test.each(cases)("%s", async (_, pointer, bytes, reading, writing) => {
    const driver = await CudaDriver.open(KERNELS);
    describeMemory(pieces);
    for (const [use, refusal] of [["read", reading], ["write", writing]] as const) {
      const check = () => assertMemory(driver, "pointer", pointer, bytes, use);
      if (refusal === null) check();
      else expect(check).toThrow(refusal);
    }
  });

  test("is taken as one piece where a driver tells neither pieces nor rights", async () => {
    const driver = await CudaDriver.open(KERNELS);
    describeMemory(pieces);
    const all = fake.answers["cuPointerGetAttribute"]!;
    fake.answers["cuPointerGetAttribute"] = (target: never, which: never, address: never) => ((which as number) >= 16 ? 1 : all(target, which, address));
    assertMemory(driver, "pointer", at, 8 << 20, "write");
    expect(() => assertMemory(driver, "pointer", at, (8 << 20) + 1, "write")).toThrow(/got 8388608 from/);
  });

  test("streams that were destroyed, and what is none", async () => {
    const driver = await CudaDriver.open(KERNELS);
    describeMemory(pieces);
    assertStream(driver, 0x5550000n);
    expect(() => assertStream(driver, at)).toThrow(/^"stream" expected a CUstream, got memory of the device$/);
    for (const status of [201, 400, 709]) {
      fake.answers["cuStreamGetCtx"] = () => status;
      expect(() => assertStream(driver, 0x5550000n)).toThrow(/^"stream" expected a CUstream, got one that was destroyed or never was$/);
    }
    fake.answers["cuStreamGetCtx"] = () => 700;
    expect(() => assertStream(driver, 0x5550000n)).toThrow(expect.objectContaining({ name: "GpuError", kind: "refused" }));
  });
});
