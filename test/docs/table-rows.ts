/** Where the rows of a contract begin to count, and how their keys begin. */
export interface Contract {
  readonly name: "SPEC" | "DESIGN";
  readonly sections: readonly number[];
}

/**
 * Keys of every row that the contract owes a test: of each table `§ heading, first column: first cell`, of each numbered
 * or bulleted list `§ heading, rule n`. A key that comes again, as in the two tables of one endpoint, bears "(2)".
 * Endpoints are told apart by their path too, as a method alone names none.
 */
export function rowsOf(markdown: string, { name, sections }: Contract): string[] {
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
      place = isCounted ? `${name} §${section}${marks.length > 2 ? ` ${title}` : ""}` : null;
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

/** The cells of a line of a table, or `null` for any other line. */
export function cellsOf(line: string): string[] | null {
  if (!line.startsWith("|")) return null;
  return line
    .replace(/^\||\|\s*$/g, "")
    .split("|")
    .map((cell) => cell.trim());
}
