import { existsSync } from "node:fs";
import { join } from "node:path";

/**
 * Finds a program that tests of the system lane need.
 *
 * @param program a name, or an absolute path.
 * @param debianPackage the package that has it.
 * @throws if it is not installed.
 */
export function requireDebian(program: string, debianPackage: string): string {
  const folders = [...(process.env["PATH"] ?? "").split(":"), "/usr/sbin"];
  const paths = program.startsWith("/") ? [program] : folders.map((folder) => join(folder, program));
  const found = paths.find((path) => existsSync(path));
  if (found === undefined) throw new Error(`${program} is not installed: apt-get install ${debianPackage}`);
  return found;
}
