/** Tables of figures in documents, between marks: what measures them also writes them. */
import { readFileSync, writeFileSync } from "node:fs";

/** Ends the process with exit code 2. */
export function refuse(message) {
  console.error(message);
  process.exit(2);
}

function readText(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    return refuse(`"${file}" expected a file that can be read, got ${error.code}`);
  }
}

export function readResults(file) {
  try {
    return JSON.parse(readText(file));
  } catch {
    return refuse(`"${file}" expected JSON, got something else`);
  }
}

/** Puts texts between the marks of their names in a file, such as <!-- rates --> and <!-- /rates -->; nothing is written unless all are there. */
export function placeTexts(file, texts) {
  const placed = (document, [name, text]) => {
    const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const [start, end] = [document.indexOf(open), document.indexOf(close)];
    if (start < 0 || end < start) refuse(`"${file}" expected ${open} and ${close}, got none`);
    return `${document.slice(0, start + open.length)}\n\n${text}\n\n${document.slice(end)}`;
  };
  writeFileSync(file, Object.entries(texts).reduce(placed, readText(file)));
}
