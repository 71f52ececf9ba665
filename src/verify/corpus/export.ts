/** The corpus as files: an index in JSON, and a .npy file for each array. The same bytes wherever they are made. */
import { npyOf } from "./arrays.js";
import { CORPUS, type CorpusCase } from "./corpus.js";

export const INDEX_NAME = "corpus.json";
const INDEX_KIND = "flash-sampling corpus";
const FILE_NAME = /^inputs\/[a-z0-9][\w.-]*\.npy$/;

export interface CorpusFile {
  /** below the folder of the export, with / */
  readonly path: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The cases of an export. */
export function casesOf(large: boolean): readonly CorpusCase[] {
  return CORPUS.cases.filter((candidate) => large || candidate.large === undefined);
}

/** Each file of an export, the index last. large: the large cases too */
export function* corpusFiles(large: boolean): Generator<CorpusFile> {
  const cases = casesOf(large);
  const names = new Set(cases.flatMap(({ files }) => Object.values(files)));
  for (const name of names) yield { path: pathOf(name), bytes: npyOf(CORPUS.arrays[name]!) };
  yield { path: INDEX_NAME, bytes: new TextEncoder().encode(indexOf(cases, names)) };
}

const pathOf = (name: string): string => `inputs/${name}.npy`;

/** One file and one case a line. */
function indexOf(cases: readonly CorpusCase[], names: ReadonlySet<string>): string {
  const { corpusVersion, specVersion, arrays } = CORPUS;
  const files = [...names].map((name) => {
    const { dtype, shape, digest } = arrays[name]!;
    return `    ${JSON.stringify(pathOf(name))}: ${JSON.stringify({ dtype, shape, digest })}`;
  });
  const items = cases.map((item) => `    ${JSON.stringify({ ...item, files: Object.fromEntries(Object.entries(item.files).map(([role, name]) => [role, pathOf(name)])) })}`);
  const start = Object.entries({ kind: INDEX_KIND, corpusVersion, specVersion }).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)},\n`);
  return `{\n${start.join("")}  "files": {\n${files.join(",\n")}\n  },\n  "cases": [\n${items.join(",\n")}\n  ]\n}\n`;
}

/** The files that an export's index names; null for what is no index. index: the fields of the JSON object. Names that no export writes are left out. */
export function exportedFiles(index: ReadonlyMap<string, unknown>): string[] | null {
  const files = index.get("files");
  if (index.get("kind") !== INDEX_KIND || typeof files !== "object" || files === null) return null;
  return Object.keys(files).filter((path) => FILE_NAME.test(path));
}
