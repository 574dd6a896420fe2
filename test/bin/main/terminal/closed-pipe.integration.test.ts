import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Program } from "../../../support/program.ts";
import { runCommand } from "../../../support/run-command.ts";

const data = mkdtempSync(join(tmpdir(), "atoll-pipe-"));
afterAll(() => rm(data, { recursive: true, force: true }));

it("a command ends without a stack trace when its output is closed", async () => {
  await runCommand("account", "create", "--email", "ann@example.com", "--password", "correct horse", "--data", data);
  await using program = new Program("coordinator", ["cargo", "list", "--data", data]);
  program.process.stdout?.destroy();
  expect(await program.ended()).toMatchObject({ code: 0, stderr: "" });
});
