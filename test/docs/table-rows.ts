/**
 * Returns the keys of all rows of the spec that need a test. The key of a table row is `SPEC § heading, first column:
 * first cell`, and the key of a list item is `SPEC § heading, rule n`. A repeated key, as in the two tables of one
 * endpoint, ends with "(2)". The key of an endpoint's row includes its path, because a method is not unique.
 * @param sections numbers of the sections whose rows count.
 */
export function rowsOf(markdown: string, sections: readonly number[]): string[] {
  const rows: string[] = [];
  const seen = new Map<string, number>();
  let place: string | null = null;
  let column: string | null = null;
  let rule = 0;
  const add = (row: string): void => {
    const count = (seen.get(row) ?? 0) + 1;
    seen.set(row, count);
    rows.push(count === 1 ? row : `${row} (${count})`);
  };
  let section: number | null = null;
  for (const line of markdown.split("\n")) {
    const heading = /^(#+) (?:(\d+)\. )?(.+)$/.exec(line);
    if (heading) {
      const [, marks = "", number, title = ""] = heading;
      if (number !== undefined) section = Number(number);
      const isCounted = section !== null && sections.includes(section);
      place = isCounted ? `SPEC §${section}${marks.length > 2 ? ` ${title}` : ""}` : null;
      rule = 0;
    }
    const cells = cellsOf(line);
    if (cells === null) column = null;
    if (place === null) continue;
    if (cells === null) {
      if (/^(\d+\.|-) /.test(line)) add(`${place}, rule ${(rule += 1)}`);
    } else if (column === null) {
      column = cells[0] ?? "";
    } else if (!/^:?-+:?$/.test(cells[0] ?? "")) {
      add(`${place}, ${column}: ${column === "Method" ? cells.slice(0, 2).join(" ") : cells[0]}`);
    }
  }
  return rows;
}

/** Returns the cells of a table row, or null for other lines. */
export function cellsOf(line: string): string[] | null {
  if (!line.startsWith("|")) return null;
  return line
    .replace(/^\||\|\s*$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}
