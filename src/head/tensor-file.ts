/**
 * Named tensors, whatever holds them: one safetensors file, a sharded checkpoint by its index, or a .npy array.
 * An index (model.safetensors.index.json) maps names to shards beside it; a shard is opened when a tensor of it is asked for.
 */
import { describe, nameText } from "../describe.js";
import { asJsonObject, kindOf, parseJsonObject } from "./json.js";
import { isNpy, readNpyHeader } from "./npy-header.js";
import { readSafetensors, type StoredTensor } from "./safetensors.js";
import { readBytes, type ByteSource } from "./source.js";

export interface TensorFile {
  readonly name: string;
  readonly names: readonly string[];
  /** One of names. */
  tensor(name: string, signal?: AbortSignal): Promise<StoredTensor>;
  /** Closes what was opened here; the source handed in stays its owner's. */
  close(): Promise<void>;
}

/** Real indexes are below 10 MB. */
const INDEX_LIMIT = 100_000_000;

/** @throws RangeError when the file is none of these, or not in order */
export async function openTensors(source: ByteSource, signal?: AbortSignal): Promise<TensorFile> {
  const start = await readBytes(source, 0, Math.min(source.size, 8), signal);
  if (isNpy(start)) return inOneFile(source, [await npyTensor(source, signal)]);
  // A header length that starts with these two characters would be past its limit.
  if (/^\{["\s}]/.test(String.fromCharCode(...start))) return openIndex(source, signal);
  return inOneFile(source, await readSafetensors(source, signal, start));
}

function inOneFile(source: ByteSource, tensors: readonly StoredTensor[]): TensorFile {
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor]));
  return { name: source.name, names: [...byName.keys()], tensor: async (name) => byName.get(name)!, async close() {} };
}

const NPY_DTYPES: Readonly<Record<string, string>> = { "<f4": "F32", "<f2": "F16", "|V2": "BF16", "<V2": "BF16", "|i1": "I8" };

/** A .npy file as a file of one tensor, named "array". */
async function npyTensor(source: ByteSource, signal: AbortSignal | undefined): Promise<StoredTensor> {
  const { descr, fortranOrder, shape, dataOffset, dataLength } = await readNpyHeader(source, signal);
  if (fortranOrder && shape.length > 1) throw new RangeError(`"${source.name}" expected an array in C order, got Fortran order`);
  return { name: "array", dtype: NPY_DTYPES[descr] ?? descr, shape, source, offset: dataOffset, length: dataLength };
}

async function openIndex(source: ByteSource, signal: AbortSignal | undefined): Promise<TensorFile> {
  if (source.size > INDEX_LIMIT) throw new RangeError(`"${source.name}" expected an index of at most ${INDEX_LIMIT} bytes, got ${source.size}`);
  const index = parseJsonObject(await readBytes(source, 0, source.size, signal), source.name);
  const weightMap = asJsonObject(index.get("weight_map"));
  if (weightMap === null) throw new RangeError(`"${source.name}" expected an object weight_map, got ${kindOf(index.get("weight_map"))}`);
  for (const [name, shard] of weightMap) refuseOddShard(source, name, shard);
  const shards = new Map<string, { source: ByteSource; tensors: StoredTensor[] }>();
  return {
    name: source.name,
    names: [...weightMap.keys()],
    async tensor(name, signal) {
      const shardName = weightMap.get(name) as string;
      let shard = shards.get(shardName);
      if (shard === undefined) {
        if (source.sibling === undefined) throw new Error(`"${source.name}" expected its shard ${shardName} beside it, got an index without a folder`);
        const opened = await source.sibling(shardName, signal);
        shard = { source: opened, tensors: [] };
        shards.set(shardName, shard);
        shard.tensors = await readSafetensors(opened, signal);
      }
      const tensor = shard.tensors.find((candidate) => candidate.name === name);
      if (tensor === undefined) throw new RangeError(`"${shard.source.name}" expected tensor ${nameText(name)}, as ${source.name} says, got none`);
      return tensor;
    },
    async close() {
      await Promise.all(Array.from(shards.values(), (shard) => shard.source.close()));
    },
  };
}

/** A shard is a plain file name: an index must not reach outside its own folder. */
function refuseOddShard(source: ByteSource, name: string, shard: unknown): void {
  if (typeof shard !== "string" || !/^[A-Za-z0-9_-][A-Za-z0-9_.-]*\.safetensors$/.test(shard)) {
    throw new RangeError(`"${source.name}" expected a plain .safetensors file name as the shard of ${nameText(name)}, got ${describe(shard)}`);
  }
}
