/** Text in columns. */

export type Align = readonly ("left" | "right")[];

/**
 * Columns as wide as their widest cell, two spaces apart; to the right unless a column says "left".
 * rows: gone through twice, and never held, so that a table may be longer than memory has room for.
 */
export function* tableLines(rows: Iterable<readonly string[]>, align: Align = []): Generator<string> {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)));
  for (const row of rows) {
    const cells = row.map((cell, column) => (align[column] === "left" ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)));
    yield cells.join("  ").trimEnd();
  }
}

/** All of a short table. */
export function formatTable(rows: readonly (readonly string[])[], align: Align = []): string {
  return [...tableLines(rows, align)].join("\n");
}
