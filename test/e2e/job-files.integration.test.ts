import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call } from "../support/http/http.ts";
import { makeCatalog } from "../support/small-catalog.ts";
import { Network } from "../support/network/network.ts";

it("a file above the request limit reaches the runtime, and is deleted from the Island afterwards", async () => {
  const catalog = makeCatalog(["tiny-chat", "hash"]);
  await using network = await Network.open(["--catalog-directory", catalog]);
  const account = network.createAccount("client@example.com");
  await network.startIsland("one", account.islandToken, { "cargos.allow_runtimes": "wasm" });
  const form = new FormData();
  form.set("purpose", "user_data");
  // The size is above the limit of a request, and below the 512 KB of the shipped programs.
  const text = Buffer.from("\u00E4t\u00F6ll \n".repeat(45_000));
  form.set("file", new Blob([text]), "text.txt");
  const headers = { authorization: `Bearer ${account.key}` };
  const uploaded = await fetch(`${network.url}/api/v1/files`, { method: "POST", headers, body: form });
  const input = { data: { file_id: ((await uploaded.json()) as { id: string }).id } };
  const ask = (...args: [method: string, path: string, body?: unknown]) => call(network.url, account.key, ...args);
  const { id } = (await ask("POST", "/jobs", { workload: "hash", input })).body.data;
  const read = async () => (await ask("GET", `/jobs/${id}?wait=20`)).body.data;
  await expect.poll(async () => (await read()).status).toMatch(/completed|failed/);
  const job = await read();
  expect(job).toMatchObject({ status: "completed", error: null, input });
  const sha256 = createHash("sha256").update(text).digest("hex");
  expect(job.output).toMatchObject({ bytes: text.length, hashes: { sha256 } });
  expect(await readdir(join(network.islandData("one"), "job-files"))).toEqual([]);
});
