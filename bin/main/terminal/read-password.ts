import { MAX_PASSWORD, MIN_PASSWORD } from "../../../coordinator/accounts/credential-fields.ts";
import { askUntilRight } from "./ask-again.ts";
import { askSecret, canAsk, readSecret } from "./ask.ts";
import { UsageError } from "./usage-errors.ts";

/** What every command says that takes a new password. */
export const PASSWORD_HELP =
  "password, 8 to 200 characters; - reads it from standard input (default: $ATOLL_PASSWORD, else asked for at a terminal). Others see it in the process list";

/**
 * A new account's password: from the flag, standard input (`-`), the variable ATOLL_PASSWORD, or the terminal, where it is asked
 * for twice and not shown. @throws {UsageError | CliError}
 */
export async function readNewPassword(flag: string | undefined): Promise<string> {
  if (flag === "-" && !canAsk()) return readSecret("Password: ");
  if (flag !== undefined && flag !== "-") {
    // Not into the error output of scripts.
    if (process.stderr.isTTY)
      console.error("Others on this machine see the password in the process list: leave out --password");
    return flag;
  }
  const variable = process.env["ATOLL_PASSWORD"];
  if (variable !== undefined && flag === undefined) return variable;
  if (canAsk()) return askNewPassword();
  throw new UsageError("No password: give --password, set ATOLL_PASSWORD, or pipe it to --password -");
}

/**
 * Asks for a new password twice, and again for both until they are the same: a program that ended here would leave what is typed next, in
 * clear text, to the shell. @throws {CliError} when it is given up, or too short or long three times in a row.
 */
export async function askNewPassword(ask: (question: string) => Promise<string> = askSecret): Promise<string> {
  for (;;) {
    const password = await askUntilRight(
      () => ask(`Password, at least ${MIN_PASSWORD} characters (not shown): `),
      ({ length }) =>
        length < MIN_PASSWORD || length > MAX_PASSWORD
          ? `A password has ${MIN_PASSWORD} to ${MAX_PASSWORD} characters`
          : null,
    );
    if ((await ask("The same again: ")) === password) return password;
    console.error("The two passwords differ. Type both again, or press Ctrl-C to give up.");
  }
}
