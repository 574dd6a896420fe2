import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { call } from "../../support/http/http.ts";
import { TestCoordinator } from "../../support/network/test-coordinator.ts";

let coordinator: TestCoordinator;
let account: { key: string; islandToken: string };

beforeEach(async () => {
  coordinator = await TestCoordinator.open();
  account = await coordinator.createAccount("client@example.com");
});
afterEach(() => coordinator[Symbol.asyncDispose]());

const api = (method: string, path: string, body?: unknown) => call(coordinator.url, account.key, method, path, body);

describe("an Island that accepts no new jobs", () => {
  it("gets a job as soon as it accepts jobs again, and until then the job reports why it waits", async () => {
    await using island = await FakeIsland.join(coordinator.url, account.islandToken);
    island.send({ type: "draining" });
    // The reply shows that the previous frame was handled.
    island.send({ type: "wanted", slugs: ["tiny-chat"] });
    await island.next("preload");
    const { body } = await api("POST", "/jobs", { workload: "tiny-chat", input: { prompt: "Hi" } });
    const waiting = await api("GET", `/jobs/${body.data.id}`);
    expect(waiting.body.data.waiting.message).toBe("1 Island offers llmcpp, but it takes no new jobs now");
    island.send({ type: "accepting" });
    expect((await island.next("assign")).jobId).toBe(body.data.id);
  });
});
