import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Program } from "../../support/program.ts";
import { smallCatalog } from "../../support/small-catalog.ts";

const folder = mkdtempSync(join(tmpdir(), "atoll-log-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function logOf(...flags: string[]): Promise<string[]> {
  const args = [
    "serve",
    "--port",
    "0",
    "--data",
    join(folder, "data"),
    "--catalog-directory",
    smallCatalog(),
    ...flags,
  ];
  const program = new Program("coordinator", args, { ATOLL_PROT: "x" });
  await program.printed(/listening on/);
  program.kill("SIGTERM");
  const { stderr } = await program.ended();
  return stderr.trimEnd().split("\n");
}

it("the log is JSON without a terminal, and readable lines on request", async () => {
  const json = (await logOf()).map((line) => JSON.parse(line) as { msg: string });
  expect(json[0]?.msg).toBe("Unknown environment variables: ATOLL_PROT (did you mean ATOLL_PORT?)");
  expect(json.at(-1)).toMatchObject({ msg: "Stopping", signal: "SIGTERM" });
  const text = await logOf("--log-format", "text");
  expect(text[0]).toMatch(/^\[[\d:.]+\] WARN: Unknown environment variables: ATOLL_PROT/);
  expect(text.at(-1)).toMatch(/^\[[\d:.]+\] INFO: Stopping signal=SIGTERM$/);
});
