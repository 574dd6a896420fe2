import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { beginFrames, failedFrame, runFrames } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call, until } from "../../../support/http/http.ts";
import { Network } from "../../../support/network/network.ts";
import { makeCatalog } from "../../../support/small-catalog.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const UNSTORED = { model: "tiny-chat", input: "Hi", store: false };
/** Number of jobs. About a third of them end before their removal is recorded. */
const ROUNDS = 30;

let coordinator: TestCoordinator;
let account: { id: string; key: string; islandToken: string };
let island: FakeIsland;
beforeAll(async () => {
  coordinator = await TestCoordinator.open({ catalogDirectory: makeCatalog(["tiny-chat"]), islandGraceS: 0.3 });
  account = await coordinator.createAccount("client@example.com", 100);
});
afterAll(() => coordinator[Symbol.asyncDispose]());
beforeEach(async () => {
  island = await FakeIsland.join(coordinator.url, account.islandToken);
});
afterEach(() => island[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);
const ask = (more: object = {}) => api("POST", "/responses", { ...UNSTORED, ...more });
const removed = (jobId: string) =>
  until(
    async () => (await api("GET", `/jobs/${jobId}`)).body.data,
    (job) => job.input_removed_at !== null && job.output_removed_at !== null,
    "prompt and answer are removed",
  );

it("a response with store: false is removed after it is sent", async () => {
  const answer = ask();
  const assign = await island.next("assign");
  island.send(...runFrames(assign, "Hel", "lo"));
  expect((await answer).body).toMatchObject({ store: false, output: [{ content: [{ text: "Hello" }] }] });
  await removed(assign.jobId);
});

it("a failed response with store: false is removed", async () => {
  const answer = ask();
  const assign = await island.next("assign");
  island.send(...beginFrames(assign), failedFrame(assign, 1, "out_of_memory"));
  expect((await answer).status).toBe(500);
  await removed(assign.jobId);
});

it("a response with store: false is removed after its client disconnects", async () => {
  const controller = new AbortController();
  const answer = fetch(`${coordinator.url}/api/v1/responses`, {
    method: "POST",
    signal: controller.signal,
    headers: { authorization: `Bearer ${account.key}`, "content-type": "application/json" },
    body: JSON.stringify(UNSTORED),
  });
  const { jobId, attempt } = await island.next("assign");
  controller.abort();
  await expect(answer).rejects.toThrow();
  await island.next("cancel");
  island.send({ type: "cancelled", jobId, attempt, seq: 1 });
  await removed(jobId);
});

it("the removal of a response with store: false is recorded while it runs, so that a crash does not keep it", async () => {
  const answer = ask();
  const assign = await island.next("assign");
  await until(
    () => coordinator.withStore((store) => store.content.inFlight()),
    (noted) => noted.some(({ kind, id }) => kind === "job" && id === assign.jobId),
    "the removal is noted",
  );
  island.send(...runFrames(assign, "Hello"));
  expect((await answer).status).toBe(200);
  await removed(assign.jobId);
});

it("a response with store: false is sent when its job ends before the removal is recorded", async () => {
  // An Island can overtake only a coordinator in another process.
  await using network = await Network.open(["--catalog-directory", makeCatalog(["tiny-chat"])]);
  const { key, islandToken } = network.createAccount("quick@example.com");
  await using quick = await FakeIsland.join(network.url, islandToken);
  quick.handle((frame) => {
    if (frame.type === "assign") quick.send(...runFrames(frame, "Hello"));
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other is quick enough to overtake
    const { status, body } = await call(network.url, key, "POST", "/responses", UNSTORED);
    expect([status, body.output?.[0].content[0].text]).toEqual([200, "Hello"]);
    const job = () => call(network.url, key, "GET", `/jobs/${body.id.replace("resp_", "job_")}`);
    // oxlint-disable-next-line no-await-in-loop -- as above
    await until(job, (read) => read.body.data.output_removed_at !== null, "the answer is removed");
  }
  expect(network.coordinator.stderr).not.toContain("failed");
});
