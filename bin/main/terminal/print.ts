import { plainLines } from "../../../shared/cli/plain-text.ts";

/** Prints `value` as JSON with `--json`. Otherwise prints `text`, unless it is empty. */
export function print(options: { readonly json?: true }, value: unknown, text: string): void {
  if (options.json === true) printJson(value);
  else if (text !== "") console.log(plainLines(text));
}

/** Prints one line of JSON that a terminal shows unchanged. Prints undefined as null. */
export function printJson(value: unknown): void {
  // JSON.stringify does not escape the control characters above U+007E, nor direction marks.
  const text = JSON.stringify(value ?? null).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (mark) =>
    Array.from({ length: mark.length }, (_, index) => escapeUnit(mark.charCodeAt(index))).join(""),
  );
  console.log(text);
}

function escapeUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, "0")}`;
}

/** Returns the number of columns of the terminal. If the output is not a terminal, nothing is cut. */
export function outputWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns || 80 : Number.POSITIVE_INFINITY;
}
