/** Something that the user of the command can put right; only its message, one sentence or two, is shown. */
export class CliError extends Error {
  override readonly name: string = "CliError";
}
