import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Program } from "../support/program.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "atoll-early-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Starts the agent of a data directory that has joined a coordinator at `port`. */
async function startIsland(port = 9): Promise<Program> {
  const data = join(folder, "island");
  await mkdir(data);
  const coordinator = `[coordinator]\napi_url = "http://127.0.0.1:${port}"\ntoken = "it_${"0".repeat(40)}"\n`;
  await writeFile(join(data, "config.toml"), `${coordinator}public_key = "${"A".repeat(43)}="\n`, { mode: 0o600 });
  return new Program("island", ["start", "--data", data, "--log-level", "error"]);
}

/**
 * Replaces a settings file by a pipe, to stop the program while it reads the file and before it has opened anything.
 */
async function stopAt(pipe: string, program: Program): Promise<number | null> {
  const settings = await open(pipe, "w");
  program.kill("SIGTERM");
  await settings.close();
  return (await program.ended()).code;
}

async function hasChild({ process: { pid } }: Program): Promise<void> {
  const children = () => readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  await expect.poll(children, { timeout: 20_000, interval: 10 }).not.toBe("");
}

async function codeAfterStop(program: Program): Promise<number | null> {
  program.kill("SIGTERM");
  return (await program.ended()).code;
}

describe.skipIf(process.platform !== "linux")("SIGTERM", () => {
  it("ends an agent with 0 while it reads its settings", async () => {
    const data = join(folder, "island");
    await mkdir(data);
    execFileSync("mkfifo", [join(data, "config.toml")]);
    await using island = new Program("island", ["start", "--data", data]);
    expect(await stopAt(join(data, "config.toml"), island)).toBe(0);
  });

  it("ends an agent with 0 while it probes its runtimes", async () => {
    await using island = await startIsland();
    await hasChild(island);
    expect(await codeAfterStop(island)).toBe(0);
  });

  it("ends an agent with 0 while it dials an unresponsive coordinator", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const dialled = once(silent, "connection");
    await using island = await startIsland((silent.address() as AddressInfo).port);
    const [socket] = await dialled;
    expect(await codeAfterStop(island)).toBe(0);
    socket.destroy();
    silent.close();
  });

  it("ends a coordinator with 0 while it reads its settings", async () => {
    const config = join(folder, "atoll.toml");
    execFileSync("mkfifo", [config]);
    await using coordinator = new Program("coordinator", ["serve", "--config", config, "--data", join(folder, "data")]);
    expect(await stopAt(config, coordinator)).toBe(0);
  });
});
