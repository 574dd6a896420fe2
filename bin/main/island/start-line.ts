import { shellWord } from "../terminal/shell-word.ts";

/** The command that starts the agent of the same data directory, to be pasted. */
export function startLine({ data }: { readonly data?: string | undefined }): string {
  return `island start${data === undefined ? "" : ` --data ${shellWord(data)}`}`;
}
