/** Samplers as programs of their own, for the tests of the command line: one Node script, told by its first argument what to do wrong. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Reads and writes .npy by hand: nothing of this package judges itself here. */
const SCRIPT = `
import { existsSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { spawn } from "node:child_process";
import { setTimeout } from "node:timers/promises";

function read(dir, name, kind) {
  const bytes = readFileSync(dir + "/" + name + ".npy");
  const start = 10 + bytes.readUInt16LE(8);
  const shape = /\\((.*)\\)/.exec(bytes.toString("latin1", 10, start))[1].split(",").filter((part) => part.trim() !== "").map(Number);
  return { shape, data: new kind(bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length)) };
}

function write(dir, descr, shape, data) {
  const dict = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape.join(", ") + ",), }";
  const header = dict.padEnd(117) + "\\n";
  const bytes = Buffer.alloc(10 + header.length + data.byteLength);
  bytes.write("\\x93NUMPY\\x01\\x00", "latin1");
  bytes.writeUInt16LE(header.length, 8);
  bytes.write(header, 10, "latin1");
  Buffer.from(data.buffer).copy(bytes, 10 + header.length);
  writeFileSync(dir + "/tokens.npy", bytes);
}

function noise(numbers) {
  let state = 0x9e3779b9;
  for (const number of numbers) {
    state = Math.imul(state ^ number, 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 15), 0xc2b2ae35);
    state = (state ^ (state >>> 16)) + 0x7f4a7c15;
  }
  return -Math.log(-Math.log(((state >>> 0) + 0.5) / 2 ** 32));
}

function filters(dir, size, logits, temperature) {
  const optional = (name, kind) => (existsSync(dir + "/" + name + ".npy") ? read(dir, name, kind) : null);
  const [mask, topK, topP] = [optional("mask", Uint32Array), optional("top_k", Uint32Array), optional("top_p", Float64Array)];
  if (mask !== null && mask.shape[1] !== Math.ceil(size / 32)) throw new Error("mask.npy has another shape");
  const kept = temperature.length > 0 && (topK || topP) ? Array.from(temperature, (T, row) => {
    const own = Array.from(logits.subarray(row * size, (row + 1) * size));
    const order = own.map((_, token) => token).filter((token) => own[token] > -Infinity).sort((a, b) => own[b] - own[a] || a - b);
    const weights = order.map((token) => Math.exp((own[token] - own[order[0]]) / T));
    const mass = weights.reduce((a, b) => a + b, 0) * (topP?.data[row] ?? 1);
    let sum = 0;
    const count = weights.findIndex((weight) => (sum += weight) >= mass) + 1;
    return new Set(order.slice(0, Math.min(topK?.data[row] ?? size, count || size)));
  }) : null;
  return (row, token) => {
    if (mask !== null && ((mask.data[row * mask.shape[1] + (token >>> 5)] >>> (token & 31)) & 1) === 0) return false;
    return kept === null || kept[row].has(token);
  };
}

function draw(mode, dir) {
  const call = JSON.parse(readFileSync(dir + "/call.json", "utf8"));
  const logits = read(dir, "logits", Float32Array);
  const [rows, size] = logits.shape;
  if (rows !== call.rows || size !== call.vocab_size || call.shards !== 1) throw new Error("call.json says something else");
  const temperature = read(dir, "temperature", Float64Array).data;
  const seed = read(dir, "seed", BigUint64Array).data;
  const sequence = read(dir, "sequence", Uint32Array).data;
  const position = read(dir, "position", Uint32Array).data;
  const isKept = filters(dir, size, logits.data, temperature);
  const tokens = [];
  for (let row = 0; row < rows; row++) {
    const own = logits.data.subarray(row * size, (row + 1) * size);
    const key = seed[mode === "first-seed" ? 0 : row];
    for (let sample = 0; sample < call.num_samples; sample++) {
      let [best, bestScore] = [-1, -Infinity];
      own.forEach((logit, token) => {
        if (logit === -Infinity || !isKept(row, token)) return;
        const gumbel = temperature[row] === 0 ? 0 : noise([Number(key & 0xffffffffn), Number(key >> 32n), sequence[row], position[row], sample, token]);
        if (logit + temperature[row] * gumbel > bestScore) [best, bestScore] = [token, logit + temperature[row] * gumbel];
      });
      tokens.push(own.every((logit) => logit < Infinity) ? best : -1);
    }
  }
  return { rows, size, samples: call.num_samples, tokens };
}

async function answer(mode, dir) {
  if (mode === "exit") {
    console.error("Traceback\\nValueError: no kernel for this");
    process.exit(3);
  }
  if (mode === "hang") {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" });
    writeFileSync(process.env.PIDS, process.pid + " " + child.pid);
    await setTimeout(1e6);
  }
  if (mode === "orphan" && !existsSync(process.env.ORPHAN)) {
    // Out of the group, and with all that its parent was given.
    const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"], { stdio: "inherit", detached: true });
    writeFileSync(process.env.ORPHAN, String(child.pid));
    child.unref();
  }
  if (mode === "long-line") {
    writeSync(2, "x".repeat(5e7) + "\\n");
    process.exit(3);
  }
  if (mode === "nothing") return;
  if (mode === "garbage") return writeFileSync(dir + "/tokens.npy", "tokens");
  const { rows, size, samples, tokens } = draw(mode, dir);
  if (mode === "shape") return write(dir, "<i8", [rows + 1], BigInt64Array.from([...tokens.slice(0, rows), 0], BigInt));
  if (mode === "one-a-row") return write(dir, "<i8", [rows], BigInt64Array.from(tokens.slice(0, rows), BigInt));
  if (mode === "floats") return write(dir, "<f4", [rows, samples], Float32Array.from(tokens));
  if (mode === "past-end") tokens[0] = size;
  if (mode === "negative") tokens[0] = -1;
  if (mode === "odd" && size % 2 === 1) throw new RangeError("the vocabulary must be even");
  if (mode === "unsigned") return write(dir, "<u4", [rows, samples], Uint32Array.from(tokens));
  write(dir, "<i8", samples === 1 ? [rows] : [rows, samples], BigInt64Array.from(tokens, BigInt));
}

const [mode, dir] = process.argv.slice(2);
if (mode.startsWith("serve")) {
  console.log("a library says hello");
  let answers = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    if (mode === "serve-garbage") console.log("{dir");
    else if (mode === "serve-endless-line") process.stdout.write("{" + "x".repeat(5e7));
    else if (mode === "serve-error") console.log(JSON.stringify({ error: "out of memory" }));
    else if (mode === "serve-end") process.exit(4);
    else if (mode === "serve-leave") process.exit(0);
    else {
      // serve-2-right: two answers of each process, and it leaves.
      const [, lives, what] = /^serve-(?:(\\d+)-)?(.*)$/.exec(mode);
      await answer(what, JSON.parse(line).dir);
      console.log("{}");
      if (++answers === Number(lives)) process.exit(0);
    }
  }
} else await answer(mode, dir.replace(/^--dir=/, ""));
`;

/** Writes sampler.mjs into folder. Run it as: node sampler.mjs MODE DIR, or node sampler.mjs serve-MODE. */
export function writeSampler(folder: string): void {
  writeFileSync(join(folder, "sampler.mjs"), SCRIPT);
}
