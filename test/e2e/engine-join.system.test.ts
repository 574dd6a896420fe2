import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentStatus } from "../../island-agent/execution/island-reports.ts";
import { USUAL_PORTS } from "../../island-agent/cli/engines-commands.ts";
import { firstFreePort } from "../support/free-port.ts";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { LlamaServer } from "../support/servers/llama-server.ts";
import { runProgram } from "../support/program.ts";
import { Terminal } from "../support/terminal.ts";

const ROOT = join(import.meta.dirname, "../..");
const MAX_MS = 60_000;

it("a host lends a running llama-server with two commands, and earns with the first chat of a client", async () => {
  await using engine = await LlamaServer.start({ port: await firstFreePort(USUAL_PORTS) });
  await using network = await Network.open();
  const host = network.createAccount("host@example.com");
  const client = network.createAccount("client@example.com");
  const balance = async (key: string) => (await call(network.url, key, "GET", "/account")).body.data.credits as number;
  const [hostBefore, clientBefore] = [await balance(host.key), await balance(client.key)];
  const { code } = (await call(network.url, host.key, "POST", "/island-tokens/pairing", { name: "attic" })).body.data;
  await using terminal = await openTerminal(network.directory);

  const beganMs = performance.now();
  terminal.type(`island join ${network.url} --code ${code}\n`);
  await terminal.shows(
    new RegExp(`llama-server with 1 model and 4 slots runs here, at ${engine.url}. Lend it\\? \\[Y/n\\]`),
  );
  terminal.type("\n");
  await terminal.shows(/Next: island start/);
  terminal.type("island start\n");
  await terminal.shows(/connected to/);
  const { content } = await chat(network.url, client.key);
  const tookMs = performance.now() - beganMs;

  expect(content).toBe("1, 2, 3, 4, 5.");
  expect(tookMs).toBeLessThan(MAX_MS);
  expect(await balance(host.key)).toBeGreaterThan(hostBefore);
  expect(await balance(client.key)).toBeLessThan(clientBefore);
  const metrics = await (await fetch(`${engine.url}/metrics`)).text();
  expect(Number(/^llamacpp:tokens_predicted_total (\d+)/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  terminal.type("\u0003");
  await terminal.shows(/Stopping/);
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
  await until(status, ({ slots, link }) => slots === 8 && link === "connected", "the slots of the engine are offered");
  expect((await chat(network.url, key)).content).toBe("1, 2, 3, 4, 5.");
  expect(await island("status")).toContain(`Engines    llama-server at ${engine.url}: 0 of 8 slots in use, `);
  expect(await island("engines", "check")).toContain(`llama-server at ${engine.url}, 8 slots (reported)\n`);

  expect(await island("engines", "remove", engine.url)).toBe(`Removed ${engine.url}. Applied to the running agent\n`);
  expect(await status()).toMatchObject({ engines: [], slots: 4 });
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
  });
}
