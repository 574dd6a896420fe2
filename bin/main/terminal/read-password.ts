import { MAX_PASSWORD, MIN_PASSWORD } from "../../../coordinator/accounts/credential-fields.ts";
import { askUntilValid } from "./ask-again.ts";
import { askSecret, canAsk, readSecret } from "./ask.ts";
import { UsageError } from "./usage-errors.ts";

/** Help text of `--password`, for all commands that set a password. */
export const PASSWORD_HELP =
  "password of 8 to 200 characters, or - to read it from standard input (default: $ATOLL_PASSWORD, or a prompt). Other users can see a password on the command line";

/**
 * Reads the password of a new account from the flag, standard input (`-`), the variable ATOLL_PASSWORD, or a prompt.
 * @throws {UsageError | CliError}
 */
export async function readNewPassword(flag: string | undefined): Promise<string> {
  if (flag === "-" && !canAsk()) return readSecret("Password: ");
  if (flag !== undefined && flag !== "-") {
    // The warning is printed only on a terminal, because scripts may read standard error.
    if (process.stderr.isTTY)
      console.error(
        "Warning: other users of this machine can see the password on the command line. Omit --password to get a prompt",
      );
    return flag;
  }
  const variable = process.env["ATOLL_PASSWORD"];
  if (variable !== undefined && flag === undefined) return variable;
  if (canAsk()) return askNewPassword();
  throw new UsageError("No password was given. Set ATOLL_PASSWORD, or pipe the password to --password -");
}

/**
 * Asks for a new password twice, until both inputs are the same. Does not end at the first mistake, because the shell
 * would show the password that the user types next.
 * @throws {CliError} on Ctrl-C, or after three passwords that are too short or too long.
 */
export async function askNewPassword(ask: (question: string) => Promise<string> = askSecret): Promise<string> {
  for (;;) {
    const password = await askUntilValid(
      () => ask(`Password, at least ${MIN_PASSWORD} characters (not shown): `),
      ({ length }) =>
        length < MIN_PASSWORD || length > MAX_PASSWORD
          ? `The password must have ${MIN_PASSWORD} to ${MAX_PASSWORD} characters, got ${length}`
          : null,
    );
    if ((await ask("Repeat the password: ")) === password) return password;
    console.error("The passwords differ. Type both again, or press Ctrl-C to cancel.");
  }
}
