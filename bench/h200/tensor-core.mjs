/**
 * Sums the operands of tensor-core's files again, by src/spec/tensor-core.ts, and compares every bit with what the files hold:
 *   node bench/h200/tensor-core.mjs bf16.bin f16.bin
 * Exit code 1 where something differs. A file's layout: TileHead and what follows it in tensor-core.cu.
 */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const ROWS = 64;
const N = 8;
const COLUMNS = 16;
const INSTRUCTIONS = ["mma.sync", "wgmma"];
/** As tensor-core.cuh numbers them. */
const REGIMES = ["plain", "wide", "any exponent", "subnormals", "cancelling", "edges of the cuts", "c far from the products", "sums of zero", "tiny", "huge", "NaN and infinities", "zeros of both signs"];
const SHOWN = 5;

const files = process.argv.slice(2);
if (files.length === 0) throw new TypeError('"files" expected bf16.bin or f16.bin, got none');
const { tensorCoreDot, tensorCoreOperands } = await bundle();
for (const file of files) check(file);

/** The oracle as JavaScript: Node 20 does not read TypeScript. */
async function bundle() {
  const contents = `export * from "./src/spec/tensor-core.ts";`;
  const resolveDir = fileURLToPath(new URL("../..", import.meta.url));
  const { outputFiles } = await build({ stdin: { contents, resolveDir }, bundle: true, format: "esm", platform: "node", write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}

function check(file) {
  const dtype = basename(file, ".bin");
  if (dtype !== "bf16" && dtype !== "f16") throw new RangeError(`"files" expected bf16.bin or f16.bin, got ${JSON.stringify(file)}`);
  const different = INSTRUCTIONS.map(() => new Map());
  const examples = [];
  let outputs = 0;
  for (const tile of tilesOf(readFileSync(file))) {
    const operands = (list, row) => tensorCoreOperands(dtype, list.subarray(row * tile.columns, (row + 1) * tile.columns));
    const [weights, hidden] = [rowsOf(ROWS, (row) => operands(tile.w, row)), rowsOf(N, (row) => operands(tile.x, row))];
    for (let place = 0; place < ROWS * N; place++) {
      const expected = tensorCoreDot(weights[Math.floor(place / N)], hidden[place % N], tile.c[place]);
      outputs++;
      INSTRUCTIONS.forEach((instruction, i) => {
        const got = tile.sums[i][place];
        if (got === expected) return;
        different[i].set(tile.regime, (different[i].get(tile.regime) ?? 0) + 1);
        if (examples.length < SHOWN) examples.push(`  ${instruction} tile ${tile.number} place ${place} (${REGIMES[tile.regime]}, ${tile.columns} columns) c ${hex(tile.c[place])}: expected ${hex(expected)}, got ${hex(got)}`);
      });
    }
  }
  INSTRUCTIONS.forEach((instruction, i) => {
    const count = [...different[i].values()].reduce((sum, each) => sum + each, 0);
    const regimes = Array.from(different[i], ([regime, each]) => `${REGIMES[regime]} ${each}`).join(", ");
    console.log(`${instruction} ${dtype}: ${outputs} outputs, ${count} mismatches with the oracle${regimes && ` (${regimes})`}`);
    if (count > 0) process.exitCode = 1;
  });
  if (outputs === 0) throw new RangeError(`"files" expected sums in ${file}, got none`);
  for (const line of examples) console.log(line);
}

function* tilesOf(file) {
  const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength);
  let offset = 0;
  const take = (Kind, count) => {
    const list = new Kind(buffer, offset, count);
    offset += list.byteLength;
    return list;
  };
  while (offset < buffer.byteLength) {
    const [number, regime, steps] = take(Uint32Array, 3);
    const columns = steps * COLUMNS;
    const [w, x] = [take(Uint16Array, ROWS * columns), take(Uint16Array, N * columns)];
    const c = take(Uint32Array, ROWS * N);
    yield { number, regime, columns, w, x, c, sums: INSTRUCTIONS.map(() => take(Uint32Array, ROWS * N)) };
  }
}

function rowsOf(count, row) {
  return Array.from({ length: count }, (_, index) => row(index));
}

function hex(bits) {
  return bits.toString(16).padStart(8, "0");
}
