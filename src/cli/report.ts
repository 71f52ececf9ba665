/** `flash-sampling report`: what the verifying verbs found, as one page that opens in any browser. */
import type { Command } from "commander";
import { describe } from "../describe.js";
import { parseJsonObject } from "../head/json.js";
import { openSource, readBytes } from "../head/source.js";
import type { VerifyDocument } from "../verify/documents.js";
import { toLine } from "./exit.js";
import { localPath, readAddress } from "./options.js";
import { readStdin } from "./stdin.js";
import { checkOutput, writeWhole } from "./write.js";

interface ReportOptions {
  readonly out: string;
  readonly json?: boolean;
}

/** Bytes of all documents: below the longest string of the engine, and room for two million draws. */
const DOCUMENTS_LIMIT = 500_000_000;

const EXAMPLES = `
Documents are what check, gof, invariance, corpus check and replay print with
--json, and write with --document. The page is one file, opens without a
network, and runs nothing; the same documents give the same bytes. Exit code 0
once it is written, whatever it says: the verb that found a fault has told it.

Examples:
  $ flash-sampling report result.json --out report.html
  $ flash-sampling report check.json gof.json invariance.json --out report.html
  $ flash-sampling report corpus-check.json replay.json --out edges.html
  $ flash-sampling gof --help   # of check, gof and the others: what to draw
  $ cat result.json | flash-sampling report - --out report.html`;

export function addReport(program: Command): void {
  program
    .command("report <documents...>")
    .description("draw what the verifying verbs found as one page of HTML; - is stdin")
    .requiredOption("--out <file>", "the page to write: .html")
    .option("--json", "print one JSON document")
    .addHelpText("after", EXAMPLES)
    .action((places: string[], options: ReportOptions) => writeReport(places.map((place) => readAddress("documents", place)), options));
}

async function writeReport(places: readonly string[], { out, json }: ReportOptions): Promise<void> {
  if (places.filter((place) => place === "-").length > 1) throw new RangeError('"documents" expected stdin, -, at most once, got it twice');
  if (!/[^/\\]\.html?$/i.test(out)) throw new RangeError(`"--out" expected the path of a page to write, .html, got ${describe(out)}`);
  const path = await checkOutput("--out", out, new Map(places.flatMap(fileOf)));
  const read = await readDocuments(places);
  // A file of its own: nobody else needs what draws.
  const { report } = await import("../verify/report/report.js");
  const documents = read.map(({ value }) => value as VerifyDocument);
  const page = new TextEncoder().encode(report(documents, read.map(({ name }) => name)));
  await writeWhole("--out", path, page);
  const sections = documents.map(({ kind, passed }) => ({ kind, passed }));
  process.stdout.write(json ? `${JSON.stringify({ out, bytes: page.length, sections })}\n` : `${sections.map(({ kind, passed }) => `${kind} ${passed ? "passed" : "FAILED"}`).join(", ")}: ${toLine(out)}\n`);
}

/** What is read of this machine's files. */
function fileOf(place: string, index: number): [label: string, path: string][] {
  const path = localPath(place);
  return path === null ? [] : [[`document ${index + 1}`, path]];
}

interface Read {
  /** for messages */
  readonly name: string;
  readonly value: unknown;
}

async function readDocuments(places: readonly string[]): Promise<Read[]> {
  const documents: Read[] = [];
  let room = DOCUMENTS_LIMIT;
  for (const place of places) {
    const { name, bytes } = place === "-" ? await readAll(room) : await readFile(place, room);
    room -= bytes.length;
    documents.push({ name, value: Object.fromEntries(parseJsonObject(bytes, name)) });
  }
  return documents;
}

interface Bytes {
  readonly name: string;
  readonly bytes: Uint8Array;
}

async function readFile(place: string, room: number): Promise<Bytes> {
  const source = await openSource(place);
  try {
    const { name, size } = source;
    if (size > room) throw tooLong(name);
    return { name, bytes: await readBytes(source, 0, size) };
  } finally {
    await source.close();
  }
}

async function readAll(room: number): Promise<Bytes> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readStdin()) {
    size += chunk.length;
    // Leaving the loop closes the stream: whoever writes is told.
    if (size > room) throw tooLong("stdin");
    chunks.push(chunk);
  }
  return { name: "stdin", bytes: Buffer.concat(chunks) };
}

function tooLong(name: string): RangeError {
  return new RangeError(`"${name}" expected documents of at most ${DOCUMENTS_LIMIT} bytes together, got more`);
}
