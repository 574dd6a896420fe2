import { afterAll, beforeAll, expect, it } from "vitest";
import { freePort } from "../support/free-port.ts";
import { call } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";
import { Program, runProgram } from "../support/program.ts";

let network: Network;
beforeAll(async () => {
  network = await Network.open(["--port", String(await freePort())]);
});
afterAll(() => network[Symbol.asyncDispose]());

it("an Island stopped with a Cargo in memory exits with 0 and logs no crash", async () => {
  const { islandToken, key } = network.createAccount("host@example.com");
  const data = ["--data", network.islandData("a")];
  expect((await runProgram("island", "join", `${network.url}/v1/`, "--token", islandToken, ...data)).code).toBe(0);
  await using island = new Program("island", ["start", ...data], {
    ISLAND_CARGOS_ALLOW_RUNTIMES: "llmcpp",
    ISLAND_MODELS_PRELOAD: "false",
  });
  await island.printed(/connected to/);
  const messages = [{ role: "user", content: "Count from 3 to 9." }];
  expect((await call(network.url, key, "POST", "/chat/completions", { messages })).status).toBe(200);
  island.kill("SIGTERM");
  const { code, stderr } = await island.ended();
  expect(code).toBe(0);
  expect(stderr).toContain("llama.cpp process ended after the unload");
  expect(stderr).not.toMatch(/crashed|SIGKILL/);
});
