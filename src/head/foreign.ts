/** Files that are not what was asked for: what they are, and the one step that helps. Known by their first bytes. */

const CONVERT =
  'Convert the head with Python: get it as a torch tensor W of shape [vocabulary, hidden], ' +
  'then safetensors.torch.save_file({"lm_head.weight": W}, "head.safetensors")';

const FORMATS: readonly (readonly [what: string, advice: string, matches: (start: string, name: string) => boolean])[] = [
  ["a GGUF file", CONVERT, (start) => start.startsWith("GGUF")],
  // Protobuf: field 1 (ir_version) as a small number, then field 2 (producer_name) or a later one.
  ["an ONNX file", CONVERT, (start, name) => /\.onnx$/i.test(name) || /^\x08[\x01-\x20][\x12\x1a\x22\x3a\x42]/.test(start)],
  ["a zip archive, as torch.save and numpy.savez write", CONVERT, (start) => start.startsWith("PK\x03\x04")],
  ["a Python pickle", CONVERT, (start) => /^\x80[\x02-\x05]/.test(start)],
  ["a Git LFS pointer", "Fetch the file itself: git lfs pull", (start) => start.startsWith("version https://git-lfs")],
  ["a web page", "Use the address of the file itself", (start) => /^\s*<(!doctype|html|\?xml)/i.test(start)],
];

/** "a safetensors file, got ... . What to do", or null when the bytes look like no other format. */
export function foreignFormat(name: string, firstBytes: Uint8Array): string | null {
  const start = String.fromCharCode(...firstBytes);
  const found = FORMATS.find(([, , matches]) => matches(start, name));
  return found === undefined ? null : `a safetensors file, got ${found[0]}. ${found[1]}`;
}
