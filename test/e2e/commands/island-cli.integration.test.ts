import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, it } from "vitest";
import { lockDirectory } from "../../../island-agent/disk/directory-lock.ts";
import { Program, runProgram, type ProgramResult } from "../../support/program.ts";
import { expectRefusal } from "../../support/refusal.ts";

const folder = mkdtempSync(join(tmpdir(), "atoll-cli-"));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe("island rejects, in one line,", () => {
  let counter = 0;
  /** Returns a data directory that has joined an unreachable coordinator. */
  async function joined(): Promise<string> {
    const directory = join(folder, `island-${++counter}`);
    await mkdir(directory);
    await writeFile(
      join(directory, "config.toml"),
      `[coordinator]\napi_url = "http://127.0.0.1:9"\ntoken = "it_${"0".repeat(40)}"\npublic_key = "${"A".repeat(43)}="\n`,
      { mode: 0o600 },
    );
    return directory;
  }
  const start = (directory: string): Promise<ProgramResult> =>
    runProgram("island", "start", "--data", directory, "--log-level", "error");

  it("a start before it has joined", async () => {
    expectRefusal(await start(join(folder, "new-island")), /^This Island has not joined a coordinator\. /);
  });

  it("a token with a newline", async () => {
    const args = ["start", "--data", await joined(), "--log-level", "error"];
    await using program = new Program("island", args, { ISLAND_COORDINATOR_TOKEN: `it_${"0".repeat(40)}\n` });
    expectRefusal(await program.ended(), /^(ISLAND_COORDINATOR_TOKEN|The token): ?.*$/);
  });

  it("a models path that is a file", async () => {
    const directory = await joined();
    await writeFile(join(directory, "models"), "");
    expectRefusal(await start(directory), /^Cannot use the model directory \S+models: it is a file$/);
  });

  it("models locked by another process", async () => {
    const directory = await joined();
    const models = join(directory, "models");
    await mkdir(models);
    const lock = await lockDirectory(models);
    const refused = await start(directory);
    await lock.release();
    expectRefusal(refused, new RegExp(`^Another process uses ${models}`));
  });

  it("an invalid host-id", async () => {
    const directory = await joined();
    await writeFile(join(directory, "host-id"), "attic\n");
    expectRefusal(await start(directory), /host-id: must contain a UUID/);
  });

  it("status and start on a data directory that is a file", async () => {
    const path = await file("island-file", "");
    for (const command of ["status", "start"]) {
      expectRefusal(
        await runProgram("island", command, "--data", path),
        /island-file\/\S+: a parent of this path must be a directory, but it is a file. Check the path$/,
      );
    }
  });

  it("join to an unreachable address, and with an invalid token", async () => {
    const join_ = (token: string): Promise<ProgramResult> =>
      runProgram("island", "join", "http://127.0.0.1:9", "--token", token, "--data", join(folder, "joining"));
    expectRefusal(await join_(`it_${"0".repeat(40)}`), /^Not joined: /);
    expectRefusal(await join_("ak_"), /Island token/);
  });
});
