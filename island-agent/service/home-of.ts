import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CliError } from "../../shared/errors.ts";

/** User names allowed by POSIX, Linux and macOS. They contain no characters that a shell interprets. */
const USER_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** Returns the home directory of a user of this machine. @throws {CliError} when there is no such user. */
export async function homeOf(user: string): Promise<string> {
  if (!USER_NAME.test(user)) throw new CliError(`Invalid user name: ${JSON.stringify(user)}`);
  // The shell asks the system, regardless of where it stores its accounts.
  const { stdout } = await promisify(execFile)("/bin/sh", ["-c", `echo ~${user}`]);
  const home = stdout.trim();
  if (!home.startsWith("/")) throw new CliError(`This machine has no user ${user}. Check SUDO_USER`);
  return home;
}
