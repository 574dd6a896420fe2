import { shellWord } from "../terminal/shell-word.ts";

/** Returns the command that starts the agent with the same data directory, for printing. */
export function startLine({ data }: { readonly data?: string | undefined }): string {
  return `island start${data === undefined ? "" : ` --data ${shellWord(data)}`}`;
}
