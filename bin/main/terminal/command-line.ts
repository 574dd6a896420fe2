import { basename, dirname, join } from "node:path";
import type { Command } from "commander";
import { withoutPassword } from "../../../shared/without-password.ts";
import { packageRoot } from "../package-info.ts";
import { shellWord } from "./shell-word.ts";

const SCRIPT = "coordinator.ts";

/** Returns the command of this coordinator, for printed commands: `atoll-coordinator` or `npm run coordinator --`. */
export function coordinatorName(): string {
  if (isInRepository()) return "npm run coordinator --";
  const path = process.argv[1] ?? "";
  const name = basename(path);
  if (name === SCRIPT) return scriptCommand(path);
  return name.endsWith("coordinator") ? name : "coordinator";
}

/** Returns the command of the agent, as it is called where this coordinator is installed. */
export function islandName(): string {
  if (isInRepository()) return "npm run island --";
  const path = process.argv[1] ?? "";
  return basename(path) === SCRIPT ? scriptCommand(join(dirname(path), "island.ts")) : "island";
}

/** Uses the Node.js of this process, because the `node` of a shell may be older or missing. */
function scriptCommand(path: string): string {
  return `${shellWord(process.execPath)} ${shellWord(path)}`;
}

function isInRepository(): boolean {
  if (process.env["npm_lifecycle_event"] === "coordinator") return true;
  return process.cwd() === packageRoot && process.argv[1] === join(packageRoot, "bin", SCRIPT);
}

/**
 * Returns the flags that a command was called with, as shell words with a blank before each. Removes the password from
 * an address, because printed commands end up in logs; users set $PGPASSWORD instead.
 * @param without names of the flags to leave out, in camel case.
 */
export function givenFlags(command: Command, without: readonly string[] = []): string {
  return command.options
    .map((option) => {
      const name = option.attributeName();
      if (without.includes(name) || command.getOptionValueSource(name) !== "cli") return "";
      const value: unknown = command.getOptionValue(name);
      return typeof value === "string" ? ` ${option.long} ${shellWord(withoutPassword(value))}` : ` ${option.long}`;
    })
    .join("");
}
