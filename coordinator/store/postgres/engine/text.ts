/**
 * Texts that clients and Islands write may have any UTF-16 unit; PostgreSQL's text has neither NUL nor lone surrogates. They are kept as
 * JSON strings.
 */
export const textToColumn = <T extends string | null>(text: T): T => (text === null ? null : JSON.stringify(text)) as T;

export const textFromColumn = <T extends string | null>(column: T): T =>
  (column === null ? null : JSON.parse(column)) as T;

/** Without the quotes, so that pieces can be joined in the database. */
export const innerToColumn = (text: string): string => JSON.stringify(text).slice(1, -1);

export const innerFromColumn = (column: string): string => JSON.parse(`"${column}"`) as string;
