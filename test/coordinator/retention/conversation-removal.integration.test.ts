import { describe, expect, it } from "vitest";
import { runFrames, beginFrames, failedFrame, outputFrame } from "../../support/network/attempt-frames.ts";
import { ONNX_FILE } from "../catalog/cargo-builders.ts";
import type { FakeIsland } from "../../support/network/fake-island.ts";
import { until } from "../../support/http/http.ts";
import { account, api, coordinator, filesWith, join, setUp, untilInNoFile } from "./removal-world.ts";

setUp();

async function create(): Promise<string> {
  return (await api("POST", "/conversations", { model: "tiny-chat" })).body.data.id as string;
}

/** Asks, lets the Island reply, and returns the job. */
async function say(island: FakeIsland, id: string, content: string, answer: string): Promise<string> {
  const response = api("POST", `/conversations/${id}/messages`, { content });
  island.send(...runFrames(await island.next("assign"), answer));
  const { status, body } = await response;
  expect(status).toBe(200);
  return body.data.job_id as string;
}

const contents = async (id: string): Promise<string[]> =>
  (await api("GET", `/conversations/${id}`)).body.data.messages.map(({ content }: { content: string }) => content);

describe("DELETE /conversations/{id}", () => {
  it("removes prompts and outputs of all its jobs, including a job that was replaced by another", async () => {
    await using island = await join();
    const id = await create();
    const first = await say(island, id, "MARK-ONE", "MARK-YES");
    // The model finds the history too long, so the tracker submits a second job with less history.
    const response = api("POST", `/conversations/${id}/messages`, { content: "MARK-TWO" });
    const tooLong = await island.next("assign");
    island.send(...beginFrames(tooLong), failedFrame(tooLong, 1, "context_length_exceeded"));
    island.send(...runFrames(await island.next("assign"), "MARK-NO"));
    expect((await response).status).toBe(200);

    expect((await api("DELETE", `/conversations/${id}`)).status).toBe(200);
    for (const jobId of [first, tooLong.jobId]) {
      expect((await api("GET", `/jobs/${jobId}`)).body.data).toMatchObject({ input: {}, output: null });
    }
    await untilInNoFile("MARK-");
    expect((await api("DELETE", `/conversations/${id}`)).status).toBe(404);
  });

  it("cancels an answer in progress, and removes its delivered part", async () => {
    await using island = await join();
    const id = await create();
    const response = api("POST", `/conversations/${id}/messages`, { content: "MARK-ONE" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "MARK-PART"));
    await island.next("ack");
    expect((await api("DELETE", `/conversations/${id}`)).status).toBe(200);
    expect((await response).status).toBe(404);
    expect((await api("GET", `/jobs/${assign.jobId}`)).body.data).toMatchObject({ status: "cancelled", input: {} });
    await untilInNoFile("MARK-");
  });
});

describe("DELETE /jobs/{id}/content of a job in a conversation", () => {
  it("removes its question and answer there, and keeps the rest of the conversation usable", async () => {
    await using island = await join();
    const id = await create();
    await say(island, id, "first", "one");
    const jobId = await say(island, id, "MARK-TWO", "MARK-2");
    expect((await api("DELETE", `/jobs/${jobId}`)).body.error.code).toBe("job_not_cancellable");
    expect(await contents(id)).toEqual(["first", "one", "MARK-TWO", "MARK-2"]);
    expect((await api("DELETE", `/jobs/${jobId}/content`)).body.data.deleted).toBe(true);
    expect(await contents(id)).toEqual(["first", "one"]);
    await say(island, id, "third", "3");
    expect(await contents(id)).toEqual(["first", "one", "third", "3"]);
    await untilInNoFile("MARK-");
  });
});

describe("DELETE /account", () => {
  it("removes everything about its owner, but keeps the ledger under the id", async () => {
    const owner = await coordinator.createAccount("owner@example.com", 0);
    await using island = await join(owner.islandToken);
    const conversation = await create();
    await say(island, conversation, "MARK-TALK", "MARK-ANSWER");
    await api("PATCH", `/conversations/${conversation}`, { title: "MARK-TITLE" });
    const cargo = { ...ONNX_FILE, slug: "own-cargo", name: "MARK-CARGO", description: "MARK-TEXT" };
    expect((await api("POST", "/cargos", cargo)).status).toBe(201);
    await api("POST", "/api-keys", { name: "MARK-KEY" });
    const waiting = (await api("POST", "/jobs", { workload: "phi-4", input: { prompt: "MARK-WAIT" } })).body.data.id;
    const { token } = (
      await api("POST", "/auth/login", { email: "client@example.com", password: "correct horse" }, null)
    ).body.data;
    expect(filesWith("MARK-").length).toBeGreaterThan(0);

    const withKey = await api("DELETE", "/account", { password: "correct horse" });
    expect([withKey.status, withKey.body.error.code]).toEqual([400, "bad_request"]);
    const wrong = await api("DELETE", "/account", { password: "wrong horse" }, token);
    expect([wrong.status, wrong.body.error.details]).toEqual([
      422,
      [{ path: "password", message: "is not the account's password" }],
    ]);
    const deleted = await api("DELETE", "/account", { password: "correct horse" }, token);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { data: { id: account.id, deleted: true, kept: expect.any(Array) } },
    ]);

    for (const credential of [account.key, token])
      expect((await api("GET", "/account", undefined, credential)).status).toBe(401);
    await expect(join(account.islandToken)).rejects.toThrow("401");
    for (const text of ["MARK-", "client@example.com"]) await untilInNoFile(text);
    await coordinator.withStore(async (store) => {
      expect(await store.accounts.get(account.id)).toBeUndefined();
      expect(await store.jobs.get(waiting)).toMatchObject({ state: "cancelled", input: {} });
      const { lines } = await store.ledger.list(account.id, { limit: 5, offset: 0 });
      // The remaining credits return to the network.
      expect(lines[0]).toMatchObject({ kind: "correction", balanceMicro: 0 });
      expect(lines.length).toBeGreaterThan(3);
      expect(await store.content.inFlight()).toEqual([]);
    });
    const again = await api("POST", "/auth/register", { email: "client@example.com", password: "correct horse" }, null);
    expect(again.status).toBe(201);
  });

  it("is completed at the next start after a crash", async () => {
    await using island = await join();
    await say(island, await create(), "MARK-TALK", "MARK-ANSWER");
    await api("POST", "/jobs", { workload: "phi-4", input: { prompt: "MARK-WAIT" } });
    await island[Symbol.asyncDispose]();
    await coordinator.stop();
    await coordinator.withStore((store) => store.accounts.delete(account.id, Date.now()));
    await coordinator.start();
    await untilInNoFile("MARK-");
    await until(
      () => coordinator.withStore((store) => store.content.inFlight()),
      (subjects) => subjects.length === 0,
      "no removal is in progress",
    );
  });
});
