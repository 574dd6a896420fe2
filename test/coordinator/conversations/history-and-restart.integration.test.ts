import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  beginFrames,
  failedFrame,
  finishedFrame,
  outputFrame,
  runFrames,
} from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { makeHello } from "../../support/network/frames.ts";
import { until } from "../../support/http/http.ts";

import {
  account,
  api,
  contentsOf,
  coordinator,
  create,
  join,
  messagesOf,
  openStream,
  post,
  say,
  setUp,
} from "./conversation-world.ts";

setUp();

describe("a history that does not fit the model", () => {
  it("is trimmed from the oldest by estimate, without the system prompt", async () => {
    await using island = await join();
    const id = await create({ system_prompt: "Be kind" });
    // tiny-chat has a context of 1,024 tokens, half of which is reserved for the answer. The other 512 tokens hold
    // 1,536 bytes with some overhead.
    for (const name of ["a", "b", "c"]) await say(island, id, name.repeat(600), "ok");
    expect(contentsOf(await say(island, id, "last", "ok"))).toEqual([
      "Be kind",
      "b".repeat(600),
      "ok",
      "c".repeat(600),
      "ok",
      "last",
    ]);
  });

  it("is trimmed again if the model finds it too long, before any output is visible", async () => {
    await using island = await join();
    const id = await create({ system_prompt: "Be kind" });
    for (const name of ["a", "b", "c", "d"]) await say(island, id, name, name.toUpperCase());
    const opened = openStream(id, { content: "last" });
    const prompts: string[][] = [];
    let assign = await island.next("assign");
    for (; messagesOf(assign).length > 2; assign = await island.next("assign")) {
      prompts.push(contentsOf(assign));
      island.send(...beginFrames(assign), failedFrame(assign, 1, "context_length_exceeded"));
    }
    prompts.push(contentsOf(assign));
    expect(prompts).toEqual([
      ["Be kind", "a", "A", "b", "B", "c", "C", "d", "D", "last"],
      ["Be kind", "c", "C", "d", "D", "last"],
      ["Be kind", "d", "D", "last"],
      ["Be kind", "last"],
    ]);
    island.send(...runFrames(assign, "at last"));
    const text = await (await opened).text();
    expect(text).toContain(`"job_id":"${assign.jobId}"`);
    expect(text.match(/^event: (error|done)$/gm)).toEqual(["event: done"]);
    const { messages } = (await api("GET", `/conversations/${id}?order=desc&limit=1`)).body.data;
    expect(messages).toMatchObject([{ content: "at last", status: "completed", job_id: assign.jobId }]);
  });

  it("fails if the question without history does not fit", async () => {
    await using island = await join();
    const id = await create();
    await say(island, id, "a", "A");
    const answered = post(id, { content: "long" });
    for (let tries = 0; tries < 2; tries += 1) {
      const assign = await island.next("assign");
      island.send(...beginFrames(assign), failedFrame(assign, 1, "context_length_exceeded"));
    }
    const { status, body } = await answered;
    expect([status, body.error.code]).toEqual([422, "context_length_exceeded"]);
    expect(body.error.message).toMatch(/maximum context length is \d+ tokens/);
    expect(island.pending("assign")).toEqual([]);
    const { messages } = (await api("GET", `/conversations/${id}?order=desc&limit=1`)).body.data;
    expect(messages).toMatchObject([{ status: "failed", error: { code: "context_length_exceeded" } }]);
  });
});

describe("a restart of the coordinator", () => {
  it("completes an answer in progress whose Island returns", async () => {
    const hostId = randomUUID();
    const island = await join(hostId);
    const id = await create();
    const answered = post(id, { content: "Hi" }).catch(() => "cut");
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "one "));
    await island.next("ack");
    await coordinator.stop();
    expect(await answered).toBe("cut");
    await coordinator.start();
    const { jobId, attempt, claim } = assign;
    await using again = await FakeIsland.dial(coordinator.url, account.islandToken);
    again.send(makeHello({ hostId, held: [{ jobId, attempt, claim, started: true }] }));
    await again.next("welcome");
    const busy = await post(id, { content: "too early" });
    expect(busy.body.error.code).toBe("conversation_busy");
    again.send(outputFrame(assign, 2, "two"), finishedFrame(assign, 3, { completionTokens: 2 }));
    await again.next("ack", (ack) => ack.seq === 3);
    // The coordinator that was asked for the answer stores its end, and may not be the one with the Island.
    const { messages } = await until(
      async () => (await api("GET", `/conversations/${id}`)).body.data,
      (conversation) => conversation.messages[1].status === "completed",
      "the end of the answer",
    );
    expect(messages[1]).toMatchObject({ content: "one two" });
  });

  it("stores an answer whose job had ended before it was stored", async () => {
    const id = await create();
    const jobId = await coordinator.withStore(async (store) => {
      const atMs = Date.now();
      const ids = { userMessageId: "msg_q", answerId: "msg_a", conversationId: id, afterMessageId: null };
      const input = { messages: [{ role: "user", content: "Hi" }] };
      const job = {
        id: "job_ended",
        accountId: account.id,
        slug: "tiny-chat",
        workloadId: 1,
        input,
        inputJson: JSON.stringify(input),
        jobClass: "chat" as const,
        share: null,
        priority: 0,
        priceMicro: 1,
        rates: null,
        terms: null,
        createdAtMs: atMs,
        waitDeadlineMs: atMs,
        isClientBound: false,
        ignoredParameters: [],
        idempotency: null,
        webhook: null,
        postings: [],
      };
      await store.jobs.submit({ ...job, answer: { kind: "new", question: { ...ids, content: "Hi" } } });
      await store.jobs.end({
        jobId: job.id,
        event: "cancel",
        attempt: 0,
        atMs,
        usage: null,
        finishReason: null,
        timings: null,
        error: null,
        chargeMicro: 0,
        postings: [],
      });
      return job.id;
    });
    await coordinator.stop();
    await coordinator.start();
    const { messages } = (await api("GET", `/conversations/${id}`)).body.data;
    expect(messages[1]).toMatchObject({ job_id: jobId, status: "cancelled" });
  });
});
