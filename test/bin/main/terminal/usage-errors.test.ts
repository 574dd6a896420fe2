import { expect, it } from "vitest";
import { runCommand } from "../../../support/run-command.ts";

it.each([
  [["key", "lst"], "error: unknown command 'lst' (Did you mean list?)", "coordinator key"],
  [["cargo", "list", "--jsn"], "error: unknown option '--jsn' (Did you mean --json?)", "coordinator cargo list"],
  [["account", "create"], "error: required option '--email <address>' not specified", "coordinator account create"],
])("a command refuses %j in one line with a hint", async (args, line, command) => {
  expect(await runCommand(...args)).toEqual({ code: 2, stdout: "", stderr: `${line}\nSee: ${command} --help\n` });
});

it("a command with --json prints usage errors as JSON", async () => {
  const { code, stdout, stderr } = await runCommand("account", "create", "--email", "a@b", "--credits", "x", "--json");
  const message = '--credits: must be a decimal number of 0 or more, such as 2.5, got "x"';
  expect([code, JSON.parse(stdout), stderr]).toEqual([2, { error: { code: "usage", message } }, `${message}\n`]);
  const wrong = await runCommand("job", "list", "--json", "--wrong");
  expect([wrong.code, JSON.parse(wrong.stdout)]).toEqual([
    2,
    { error: { code: "usage", message: "unknown option '--wrong'" } },
  ]);
});

it("a command with --help exits with 0", async () => {
  expect(await runCommand("account", "--help")).toMatchObject({ code: 0, stderr: "" });
});
