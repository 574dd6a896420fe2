import type { ComponentChildren } from "preact";

export interface SimpleColumn<T> {
  readonly label: string;
  readonly cell: (row: T) => ComponentChildren;
  readonly isNumber?: boolean;
  /** Whether the column is hidden on a narrow screen. */
  readonly isExtra?: boolean;
}

/** A table of few rows. On a narrow screen it scrolls sideways inside its frame. */
export function SimpleTable<T>({
  rows,
  columns,
  keyOf,
  label,
}: {
  readonly rows: readonly T[];
  readonly columns: readonly SimpleColumn<T>[];
  readonly keyOf: (row: T) => string | number;
  readonly label: string;
}) {
  const classOf = ({ isNumber, isExtra }: SimpleColumn<T>): string =>
    `${isNumber === true ? "number" : ""}${isExtra === true ? " extra" : ""}`;
  return (
    <div class="simple-table" role="group" aria-label={label} tabIndex={0}>
      <table aria-label={label}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.label} scope="col" class={classOf(column)}>
                {column.label === "" ? <span class="hidden">Actions</span> : column.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map((column) => (
                <td key={column.label} class={classOf(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
