/** Something that the user of the command can put right; only its message is shown. */
export class CliError extends Error {
  override readonly name = "CliError";
}
