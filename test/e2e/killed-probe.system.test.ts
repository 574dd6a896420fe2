import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { ShownStatus } from "../../island-agent/cli/status-command.ts";
import { requireBubblewrap } from "../island-agent/runtimes/sandbox/test-sandbox.ts";
import { call, until } from "../support/http/http.ts";
import { Network } from "../support/network/network.ts";

const BWRAP = requireBubblewrap();

it("an Island offers chats after a retry if its first probe of llama.cpp was killed", async () => {
  await using network = await Network.open();
  const account = network.createAccount("client@example.com");
  const marker = join(network.directory, "killed");
  const script = `case "$*" in *llama-host*) [ -e ${marker} ] || { touch ${marker}; kill -9 $$; } ;; esac`;
  const program = `#!/bin/sh\n${script}\nexec ${BWRAP} "$@"\n`;
  await writeFile(join(network.directory, "bwrap"), program, { mode: 0o755 });
  const path = `${network.directory}:${process.env["PATH"]}`;
  await network.startIsland("island", account.islandToken, {}, { PATH: path });
  const { runtimes, unusable } = await network.islandStatus<ShownStatus>("island");
  expect(runtimes.map(({ type }) => type)).not.toContain("llmcpp");
  expect(unusable).toContainEqual({
    type: "llmcpp",
    reason: expect.stringContaining("SIGKILL"),
    retryAtMs: expect.any(Number),
  });
  const job = { workload: "tiny-chat", input: { prompt: "Tell me a story.", temperature: 0 } };
  const { id } = (await call(network.url, account.key, "POST", "/jobs", job)).body.data;
  const done = await until(
    async () => (await call(network.url, account.key, "GET", `/jobs/${id as string}?wait=60`)).body.data,
    ({ status }) => status === "completed",
    "the story",
  );
  expect(done.output).not.toBe("");
});
