import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CliError } from "../../shared/errors.ts";

/** What POSIX allows in a user's name, and what Linux and macOS add; nothing that a shell reads as its own. */
const USER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** The home directory of an account of this machine. @throws {CliError} when there is no such account. */
export async function homeOf(user: string): Promise<string> {
  if (!USER_NAME.test(user)) throw new CliError(`${JSON.stringify(user)} is not the name of a user`);
  // The shell asks the system, wherever its accounts are kept.
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `echo ~${user}`]);
  const home = stdout.trim();
  if (!home.startsWith("/")) throw new CliError(`This machine has no user ${user}`);
  return home;
}
