/** Text in columns. */

/** Columns as wide as their widest cell, two spaces apart; to the right unless a column says "left". */
export function formatTable(rows: readonly (readonly string[])[], align: readonly ("left" | "right")[] = []): string {
  const columns = Math.max(...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) => row.map((cell, column) => (align[column] === "left" ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!))))
    .map((row) => row.join("  ").trimEnd())
    .join("\n");
}
