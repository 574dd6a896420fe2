import { expect, it } from "vitest";
import { runCommand } from "../../support/run-command.ts";

it.each([
  [["key", "lst"], "error: unknown command 'lst' (Did you mean list?)", "coordinator key"],
  [["cargo", "list", "--jsn"], "error: unknown option '--jsn' (Did you mean --json?)", "coordinator cargo list"],
  [["account", "create"], "error: required option '--email <address>' not specified", "coordinator account create"],
])("%j is refused in one line and a hint", async (args, line, command) => {
  expect(await runCommand(...args)).toEqual({ code: 1, stdout: "", stderr: `${line}\nSee: ${command} --help\n` });
});
