/**
 * Reads a llama2.c tokenizer (tokenizer.bin) and turns text into tokens and back.
 * The file: int32 longest length, then for each token float32 score, int32 length and that many bytes, little-endian.
 * Tokens 0, 1, 2 are unknown, begin and end; one token "<0xNN>" for each byte stands in for characters without a token.
 * Limit: byte-pair merging takes a quadratic time in the length of a prompt.
 */
import { readFile, stat } from "node:fs/promises";

/** Starts a story, and ends it where another would start. */
export const BEGIN_TOKEN = 1;
const SPECIAL_TOKENS = 3;
/** More than a vocabulary of a million tokens of 60 bytes takes. */
const SIZE_LIMIT = 1 << 26;
const SPACE = 0x20;

export interface Tokenizer {
  /** The tokens of a prompt, without the begin token. @throws RangeError for a byte that no token stands for */
  encode(text: string): number[];
  /** The bytes a token adds after the token before it. They need not be whole characters. */
  decode(previous: number, token: number): Uint8Array;
}

/** @throws RangeError when the file is no tokenizer of vocabSize tokens; the platform's error when it cannot be read */
export async function readTokenizer(path: string, vocabSize: number): Promise<Tokenizer> {
  const found = await stat(path);
  if (!found.isFile()) throw new RangeError(`"${path}" expected a file, got something else`);
  if (found.size > SIZE_LIMIT) throw new RangeError(`"${path}" expected at most ${SIZE_LIMIT} bytes, got ${found.size}`);
  return parseTokenizer(await readFile(path), vocabSize, path);
}

/** @throws RangeError naming the first token whose bytes are not there, or what is left over */
export function parseTokenizer(file: Uint8Array, vocabSize: number, name: string): Tokenizer {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  // Each token takes at least 9 bytes: a vocabulary that cannot fit is refused before anything is built.
  if (4 + 9 * vocabSize > file.length) throw new RangeError(`"${name}" expected ${vocabSize} tokens, got a file of ${file.length} bytes`);
  const longest = view.getInt32(0, true);
  const pieces: Piece[] = [];
  let offset = 4;
  for (let token = 0; token < vocabSize; token++) {
    if (offset + 8 > file.length) throw new RangeError(`"${name}" expected ${vocabSize} tokens, got an end after ${token}`);
    const score = view.getFloat32(offset, true);
    const length = view.getInt32(offset + 4, true);
    offset += 8;
    if (length < 1 || length > Math.min(longest, file.length - offset)) {
      throw new RangeError(`"${name}" expected token ${token} to have 1 to ${Math.min(longest, file.length - offset)} bytes, got ${length}`);
    }
    pieces.push({ score, text: latin1(file.subarray(offset, offset + length)) });
    offset += length;
  }
  if (offset !== file.length) throw new RangeError(`"${name}" expected to end after ${vocabSize} tokens, got ${file.length - offset} more bytes`);
  return new PieceTokenizer(pieces, name);
}

/** text: one character for each byte, because a token may hold a part of a character. */
interface Piece {
  readonly score: number;
  readonly text: string;
}

class PieceTokenizer implements Tokenizer {
  #pieces: readonly Piece[];
  #tokenOfText = new Map<string, number>();
  #tokenOfByte = new Map<string, number>();
  #byteOfToken = new Map<number, string>();
  #name: string;

  constructor(pieces: readonly Piece[], name: string) {
    this.#pieces = pieces;
    this.#name = name;
    pieces.forEach(({ text }, token) => {
      const code = /^<0x([0-9A-F]{2})>$/.exec(text)?.[1];
      if (code !== undefined) {
        const byte = String.fromCharCode(parseInt(code, 16));
        this.#tokenOfByte.set(byte, token);
        this.#byteOfToken.set(token, byte);
      } else if (token >= SPECIAL_TOKENS && !this.#tokenOfText.has(text)) {
        this.#tokenOfText.set(text, token);
      }
    });
  }

  encode(text: string): number[] {
    if (text === "") return [];
    // A leading space, as the model's training text had before every sentence.
    const tokens = Array.from(` ${text}`, (character) => this.#tokensOfCharacter(character)).flat();
    for (;;) {
      let best: { index: number; token: number } | undefined;
      for (let index = 0; index + 1 < tokens.length; index++) {
        const token = this.#tokenOfText.get(this.#text(tokens[index]!) + this.#text(tokens[index + 1]!));
        if (token !== undefined && (best === undefined || this.#pieces[token]!.score > this.#pieces[best.token]!.score)) best = { index, token };
      }
      if (best === undefined) return tokens;
      tokens.splice(best.index, 2, best.token);
    }
  }

  decode(previous: number, token: number): Uint8Array {
    const byte = this.#byteOfToken.get(token);
    const text = byte ?? this.#text(token);
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    // The space that encode puts in front.
    return byte === undefined && previous === BEGIN_TOKEN && bytes[0] === SPACE ? bytes.subarray(1) : bytes;
  }

  #text(token: number): string {
    return this.#pieces[token]!.text;
  }

  #tokensOfCharacter(character: string): number[] {
    const text = latin1(new TextEncoder().encode(character));
    const token = this.#tokenOfText.get(text);
    if (token !== undefined) return [token];
    return Array.from(text, (byte) => {
      const token = this.#tokenOfByte.get(byte);
      if (token === undefined) throw new RangeError(`"prompt" expected characters that ${this.#name} has tokens for, got ${JSON.stringify(character)}`);
      return token;
    });
  }
}

function latin1(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
}
