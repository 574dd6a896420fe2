import { mkdir, mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { USUAL_PORTS } from "../../island-agent/cli/engines-commands.ts";
import { firstFreePort } from "../support/free-port.ts";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { LlamaServer } from "../support/servers/llama-server.ts";
import { runProgram } from "../support/program.ts";
import type { NewAccount } from "../support/store/account-rows.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAX_MS = 60_000;

describe("island join on a machine with a running llama-server", () => {
  let engine: LlamaServer;
  let network: Network;
  let host: NewAccount;
  beforeAll(async () => {
    engine = await LlamaServer.start({ port: await firstFreePort(USUAL_PORTS) });
    network = await Network.open();
    host = network.createAccount("host@example.com");
  });
  afterAll(async () => {
    await network[Symbol.asyncDispose]();
    await engine[Symbol.asyncDispose]();
  });
  const pairingCode = async (): Promise<string> =>
    (await call(network.url, host.key, "POST", "/island-tokens/pairing", { name: "attic" })).body.data.code as string;
  const balance = async ({ key }: NewAccount): Promise<number> =>
    (await call(network.url, key, "GET", "/account")).body.data.credits as number;

  it("asks whether to lend it, so that two commands lead to the first paid chat of a client", async () => {
    const client = network.createAccount("client@example.com");
    const [hostBefore, clientBefore] = [await balance(host), await balance(client)];
    const code = await pairingCode();
    await using terminal = await openTerminal(network.directory);

    const beganMs = performance.now();
    terminal.type(`island join ${network.url} --code ${code}\n`);
    const found = `llama-server with 1 model and 4 slots runs here, at ${engine.url}.`;
    await terminal.shows(new RegExp(`${found} Lend it\\? \\[Y/n\\]`));
    terminal.type("\n");
    await terminal.shows(/Next: island start/);
    terminal.type("island start\n");
    await terminal.shows(/connected to/);
    const { content } = await chat(network.url, client.key);
    const tookMs = performance.now() - beganMs;

    expect(content).toBe("1, 2, 3, 4, 5.");
    expect(tookMs).toBeLessThan(MAX_MS);
    expect(await balance(host)).toBeGreaterThan(hostBefore);
    expect(await balance(client)).toBeLessThan(clientBefore);
    const metrics = await (await fetch(`${engine.url}/metrics`)).text();
    expect(Number(/^llamacpp:tokens_predicted_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    terminal.type("\u0003");
    await terminal.shows(/Stopping/);
  });

  it("prints the command that lends it if there is no terminal to ask", async () => {
    const data = network.islandData("cellar");
    const { stdout } = await runProgram("island", "join", network.url, "--code", await pairingCode(), "--data", data);
    expect(stdout).toContain(
      `runs here, at ${engine.url}. To lend it: island engines add ${engine.url} --data ${data}\n`,
    );
    expect((await runProgram("island", "engines", "list", "--data", data)).stdout).toMatch(/^No engine is lent\./);
  });
});

it("a host lends an engine and withdraws it while the agent runs", async () => {
  await using engine = await LlamaServer.start({ slots: 8 });
  await using network = await Network.open();
  const { key, islandToken } = network.createAccount("host@example.com");
  await network.startIsland("attic", islandToken, { "cargos.allow_runtimes": "wasm,engine" });
  const status = () => network.islandStatus<AgentStatus>("attic");
  const island = async (...args: string[]) =>
    (await runProgram("island", ...args, "--data", network.islandData("attic"))).stdout;
  expect((await status()).slots).toBe(4);

  expect(await island("engines", "add", engine.url)).toBe(
    `Lends llama-server with 1 model and 8 slots at ${engine.url}. Applied to the running agent\n`,
  );
  await until(status, ({ slots, link }) => slots === 12 && link === "connected", "the slots of the engine are offered");
  expect((await chat(network.url, key)).content).toBe("1, 2, 3, 4, 5.");
  expect(await island("status")).toContain(`Engines    llama-server at ${engine.url}: 0 of 8 slots in use, `);
  expect(await island("engines", "check")).toContain(`llama-server at ${engine.url}, 8 slots (reported)\n`);

  expect(await island("engines", "remove", engine.url)).toBe(`Removed ${engine.url}. Applied to the running agent\n`);
  expect(await status()).toMatchObject({ engines: [], slots: 4 });
});

it("island engines add asks for the API key of a llama-server, and does not show it", async () => {
  await using engine = await LlamaServer.start({ flags: ["--api-key", "sk-secret"] });
  await using directory = await mkdtempDisposable(join(tmpdir(), "atoll-key-"));
  await using terminal = await openTerminal(directory.path);
  terminal.type(`island engines add ${engine.url}\n`);
  await terminal.shows(/API key of the engine \(not shown\): /);
  terminal.type("sk-secret\n");
  await terminal.shows(/Lends llama-server with 1 model and 4 slots at /);
  expect(terminal.shown).not.toContain("sk-secret");
});

async function chat(url: string, key: string): Promise<{ readonly content: string }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "tiny-chat", messages: [{ role: "user", content: "Count from 1 to 5." }] }),
  });
  const { choices } = (await response.json()) as { choices: [{ message: { content: string } }] };
  return choices[0].message;
}

/** Opens a terminal of a host who has installed the command `island`. */
async function openTerminal(directory: string): Promise<Terminal> {
  const bin = join(directory, "bin");
  await mkdir(bin);
  const island = `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "bin/island.ts")}" "$@"\n`;
  await writeFile(join(bin, "island"), island, { mode: 0o755 });
  return new Terminal({
    HOME: directory,
    PATH: `${bin}:${process.env["PATH"]}`,
    NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] ?? "",
    // Recommended models are remote.
    ISLAND_MODELS_PRELOAD: "false",
    // On a busy machine, another runtime could be ready before the engine.
    ISLAND_CARGOS_ALLOW_RUNTIMES: "engine",
  });
}
