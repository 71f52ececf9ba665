/**
 * Which tensor of a checkpoint is the LM head, and which one holds its scales.
 * First the names of heads, then those of token embeddings, which serve as the head where a model ties the two.
 * Names as the published checkpoints of each family use them.
 */
import { describe, nameText } from "../describe.js";
import type { StoredTensor } from "./safetensors.js";
import type { TensorFile } from "./tensor-file.js";

/** In order of priority. */
export const HEAD_NAMES: readonly string[] = [
  "lm_head.weight", // most of transformers
  "language_model.lm_head.weight", // multimodal wrappers
  "model.lm_head.weight",
  "output.weight", // Llama as first published, InternLM2
  "transformer.output_layer.weight", // ChatGLM
  "embed_out.weight", // GPT-NeoX, Pythia
  "head.weight", // RWKV, DeepSeek's own format
];

/** In order of priority; used only when no head of its own is in the file. */
export const EMBEDDING_NAMES: readonly string[] = [
  "model.embed_tokens.weight", // Llama, Qwen, Gemma
  "model.language_model.embed_tokens.weight", // multimodal
  "language_model.model.embed_tokens.weight",
  "transformer.wte.weight", // GPT-2
  "wte.weight",
  "tok_embeddings.weight", // Llama as first published
  "model.tok_embeddings.weight",
  "transformer.word_embeddings.weight", // BLOOM, Falcon
  "word_embeddings.weight",
  "model.decoder.embed_tokens.weight", // OPT
  "decoder.embed_tokens.weight",
  "embed_tokens.weight",
  "backbone.embedding.weight", // Mamba
  "backbone.embeddings.weight",
];

/** Tensors listed in a message. */
const LISTED = 20;

/**
 * The head: the tensor asked for; else the first of HEAD_NAMES, then of EMBEDDING_NAMES; else the file's only 2-D tensor.
 * @throws RangeError when there is none, or when the file says its head is more than one matrix (packed, or with a bias)
 */
export async function findHead(file: TensorFile, asked: string | undefined, signal?: AbortSignal): Promise<StoredTensor> {
  const names = new Set(file.names);
  if (asked !== undefined) {
    if (typeof asked !== "string") throw new TypeError(`"tensor" expected the name of a tensor, got ${describe(asked)}`);
    if (names.has(asked)) return file.tensor(asked, signal);
    throw new RangeError(`"tensor" expected the name of a tensor in ${file.name}, got ${nameText(asked)}. ${await candidates(file, signal)}`);
  }
  const head = HEAD_NAMES.find((name) => names.has(name));
  // A head stored in pieces must not be mistaken for a tied one.
  const stem = HEAD_NAMES.map(stemOf).find((stem) => file.names.some((name) => name.startsWith(stem)));
  if (head === undefined && stem !== undefined) {
    const pieces = file.names.filter((name) => name.startsWith(stem)).slice(0, LISTED);
    throw new RangeError(`"${file.name}" expected a head as one matrix ${stem}weight, got ${pieces.map(nameText).join(", ")}: store it unpacked, or name a tensor`);
  }
  if (head !== undefined && names.has(`${stemOf(head)}bias`)) {
    throw new RangeError(`"${file.name}" expected a head without bias, got ${stemOf(head)}bias: name ${head} as the tensor to sample without its bias`);
  }
  const found = head ?? EMBEDDING_NAMES.find((name) => names.has(name));
  if (found !== undefined) return file.tensor(found, signal);
  const matrices = (await allTensors(file, signal)).filter((tensor) => tensor.shape.length === 2);
  if (matrices.length === 1) return matrices[0]!;
  throw new RangeError(`"${file.name}" expected a head under one of the usual names, got none: name the tensor. ${await candidates(file, signal)}`);
}

/** "lm_head." of "lm_head.weight" */
function stemOf(name: string): string {
  return name.replace(/weight$/, "");
}

/** The names under which the scales of an int8 tensor are looked for, in order. */
export function scaleNames(tensor: string): string[] {
  const names = [`${tensor}_scale`, `${tensor}_scales`];
  return tensor.endsWith(".weight") ? [...names, `${stemOf(tensor)}scale`, `${stemOf(tensor)}scales`] : names;
}

/** The names that would make int8 weights asymmetric, which the rule does not know. */
export function zeroPointNames(tensor: string): string[] {
  const names = [`${tensor}_zero_point`, `${tensor}_zero_points`];
  return tensor.endsWith(".weight") ? [...names, `${stemOf(tensor)}zero_point`, `${stemOf(tensor)}zeros`] : names;
}

async function candidates(file: TensorFile, signal: AbortSignal | undefined): Promise<string> {
  const matrices = (await allTensors(file, signal)).filter((tensor) => tensor.shape.length === 2);
  // The head is among the widest matrices: largest first.
  const listed = matrices.sort((a, b) => b.length - a.length).slice(0, LISTED);
  if (listed.length === 0) return "The file has no 2-D tensor";
  const rest = matrices.length > listed.length ? `, and ${matrices.length - listed.length} smaller ones` : "";
  return `Its 2-D tensors: ${listed.map((tensor) => `${nameText(tensor.name)} ${nameText(tensor.dtype)} [${tensor.shape.join(", ")}]`).join("; ")}${rest}`;
}

async function allTensors(file: TensorFile, signal: AbortSignal | undefined): Promise<StoredTensor[]> {
  const tensors: StoredTensor[] = [];
  for (const name of file.names) tensors.push(await file.tensor(name, signal));
  return tensors;
}
