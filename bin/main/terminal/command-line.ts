import { basename } from "node:path";
import type { Command } from "commander";
import { packageRoot } from "../package-info.ts";
import { shellWord } from "./shell-word.ts";

/** How this coordinator is called, so that the lines that are printed can be pasted: `atoll-coordinator`, in the repository `npm run coordinator --`. */
export function coordinatorName(): string {
  if (isInRepository()) return "npm run coordinator --";
  const path = process.argv[1] ?? "";
  const name = basename(path);
  if (/^coordinator\.[jt]s$/.test(name)) return `node ${shellWord(path)}`;
  return name.endsWith("coordinator") ? name : "coordinator";
}

/** The agent's command, as it is called where this coordinator is installed. */
export function islandName(): string {
  return isInRepository() ? "npm run island --" : "island";
}

function isInRepository(): boolean {
  if (process.env["npm_lifecycle_event"] === "coordinator") return true;
  return process.cwd() === packageRoot && basename(process.argv[1] ?? "") === "coordinator.ts";
}

/**
 * The flags that a command was called with, as words of a shell with a blank before each.
 * @param without camel-cased names of flags that are left out.
 */
export function givenFlags(command: Command, without: readonly string[] = []): string {
  return command.options
    .map((option) => {
      const name = option.attributeName();
      if (without.includes(name) || command.getOptionValueSource(name) !== "cli") return "";
      const value: unknown = command.getOptionValue(name);
      return typeof value === "string" ? ` ${option.long} ${shellWord(value)}` : ` ${option.long}`;
    })
    .join("");
}
