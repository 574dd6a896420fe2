import { shellWord } from "../terminal/shell-word.ts";

/** Returns a command of `island` with the same data directory, such as `island start`, for printing. */
export function islandLine(command: string, { data }: { readonly data?: string | undefined }): string {
  return `island ${command}${data === undefined ? "" : ` --data ${shellWord(data)}`}`;
}
