import { CliError } from "../../shared/errors.ts";
import { ConfigError } from "../../shared/settings.ts";
import { askSecret, canAsk, readSecret } from "./ask-secret.ts";

/** What every command says that takes a new password. */
export const PASSWORD_HELP =
  "password, 8 to 200 characters; - reads it from standard input (default: $ATOLL_PASSWORD, else asked for at a terminal). Others see it in the process list";

/**
 * A new account's password: from the flag, standard input (`-`), the variable ATOLL_PASSWORD, or the terminal, where it is asked
 * for twice and not shown. @throws {ConfigError | CliError}
 */
export async function readNewPassword(flag: string | undefined): Promise<string> {
  if (flag === "-") return readSecret("Password: ");
  if (flag !== undefined) {
    // Not into the error output of scripts.
    if (process.stderr.isTTY)
      console.error("Others on this machine see the password in the process list: leave out --password");
    return flag;
  }
  const variable = process.env["ATOLL_PASSWORD"];
  if (variable !== undefined) return variable;
  if (canAsk()) {
    const password = await askSecret("Password, at least 8 characters (not shown): ");
    if ((await askSecret("The same again: ")) === password) return password;
    throw new CliError("The two passwords differ");
  }
  throw new ConfigError(["No password: give --password, set ATOLL_PASSWORD, or pipe it to --password -"]);
}
