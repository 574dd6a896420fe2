import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { FromIsland } from "../../../shared/protocol/from-island.ts";
import { beginFrames, finishedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call, collect, jobEvents } from "../../support/http/http.ts";
import { makeCatalog } from "../../support/small-catalog.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { key: string; islandToken: string };
let island: FakeIsland;

beforeEach(async () => {
  const catalogDirectory = makeCatalog(["tiny-chat", "base64"]);
  const path = join(catalogDirectory, "cargos", "base64.json");
  // The Cargo has no output schema, so its values may have any form.
  const { output_schema: _, ...cargo } = JSON.parse(readFileSync(path, "utf8"));
  writeFileSync(path, JSON.stringify(cargo));
  coordinator = await TestCoordinator.open({ catalogDirectory });
  account = await coordinator.createAccount("account@example.com");
  island = await FakeIsland.join(coordinator.url, account.islandToken, { runtimes: [{ type: "wasm", version: "1" }] });
});
afterEach(async () => {
  await island[Symbol.asyncDispose]();
  await coordinator[Symbol.asyncDispose]();
});

/**
 * Returns the last event of a stream that was read during the job, the last event of one that was read afterwards, and
 * the job's output.
 */
async function run(frames: (name: { jobId: string; attempt: number }) => FromIsland[]): Promise<unknown[]> {
  const { body } = await call(coordinator.url, account.key, "POST", "/jobs", {
    workload: "base64",
    input: { data: "Hi" },
  });
  const jobId = body.data.id as string;
  const end = async () => (await collect(jobEvents(coordinator.url, account.key, jobId))).at(-1)?.data.output;
  const live = end();
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), ...frames(assign));
  await live;
  const job = await call(coordinator.url, account.key, "GET", `/jobs/${jobId}`);
  return [await live, await end(), job.body.data.output];
}

it("text that a job streams is its output, regardless of the text in the result", async () => {
  const said = await run((name) => [outputFrame(name, 1, "one"), finishedFrame(name, 2, { output: "other" })]);
  expect(said).toEqual([undefined, undefined, "one"]);
});

it("text that is not streamed is in the last event, even for late readers", async () => {
  const said = await run((name) => [finishedFrame(name, 1, { output: "all at once" })]);
  expect(said).toEqual(["all at once", "all at once", "all at once"]);
});
