import { describe, expect, it } from "vitest";
import {
  beginFrames,
  failedFrame,
  finishedFrame,
  outputFrame,
  runFrames,
} from "../../support/network/attempt-frames.ts";
import { collect, jobEvents, textOf, until } from "../../support/http/http.ts";
import * as world from "./conversation-world.ts";

const { api, contentsOf, create, join, openStream, post, say, setUp } = world;
/** One key more than a conversation may have. */
const MANY_KEYS = Object.fromEntries([...Array(17).keys()].map((key) => [`k${key}`, ""]));

setUp();

describe("a conversation", () => {
  it("can be created with defaults, listed newest first, shown, changed and deleted", async () => {
    const first = await create();
    const second = await create({ title: "T", model: "tiny-chat", system_prompt: "Be brief", metadata: { a: "b" } });
    const list = await api("GET", "/conversations?limit=1");
    expect(list.body.meta).toEqual({ total: 2, limit: 1, offset: 0 });
    expect(list.body.data).toEqual([
      {
        id: second,
        title: "T",
        model: "tiny-chat",
        system_prompt: "Be brief",
        metadata: { a: "b" },
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ]);
    expect(second).toMatch(/^conv_[0-9A-Z]{26}$/);
    const patched = await api("PATCH", `/conversations/${first}`, { title: "New" });
    expect(patched.body.data).toMatchObject({ title: "New", metadata: {} });
    const shown = await api("GET", `/conversations/${first}`);
    expect(shown.body).toMatchObject({
      data: { title: "New", system_prompt: null, messages: [] },
      meta: { total: 0, limit: 100, offset: 0 },
    });
    expect((await api("DELETE", `/conversations/${first}`)).body).toEqual({ data: { id: first, deleted: true } });
    expect((await api("GET", `/conversations/${first}`)).status).toBe(404);
    expect((await api("DELETE", `/conversations/${first}`)).status).toBe(404);
  });

  it("rejects changes of its model and system prompt", async () => {
    const id = await create();
    const { status, body } = await api("PATCH", `/conversations/${id}`, { model: "other", system_prompt: "x" });
    expect([status, body.error.message]).toEqual([422, "model, system_prompt: only title and metadata can be changed"]);
    expect((await api("GET", `/conversations/${id}`)).body.data).toMatchObject({
      model: "tiny-chat",
      system_prompt: null,
    });
  });

  it("is not found for another account, and needs the scopes", async () => {
    const id = await create();
    const other = await world.coordinator.createAccount("other@example.com");
    const readKey = await world.coordinator.withStore((_store, accounts) =>
      accounts.createKey(world.account.id, { scopes: ["read"] }),
    );
    const asked: [string, string, object?][] = [
      ["GET", `/conversations/${id}`],
      ["PATCH", `/conversations/${id}`, { title: "x" }],
      ["DELETE", `/conversations/${id}`],
      ["POST", `/conversations/${id}/messages`, { content: "x" }],
    ];
    for (const [method, path, body] of asked) expect((await api(method, path, body, other.key)).status).toBe(404);
    expect((await api("GET", "/conversations", undefined, other.key)).body.data).toEqual([]);
    const codes = [];
    for (const [method, path, body] of asked) codes.push((await api(method, path, body, readKey.secret)).status);
    expect(codes).toEqual([200, 403, 403, 403]);
  });

  it.each([
    ["/conversations", { model: "none" }, 404, "cargo_not_found"],
    ["/conversations", { title: "x".repeat(201) }, 422, "validation_failed"],
    ["/conversations", { metadata: MANY_KEYS }, 422, "validation_failed"],
    ["/conversations/ID/messages", { content: "" }, 422, "validation_failed"],
    ["/conversations/ID/messages", { content: "x".repeat(131_072) }, 422, "validation_failed"],
    ["/conversations/ID/messages", { content: "x", temperature: 3 }, 422, "validation_failed"],
    ["/conversations/conv_none/messages", { content: "x" }, 404, "not_found"],
  ])("rejects POST %s (%#)", async (path, body, status, code) => {
    const id = await create();
    const answer = await api("POST", path.replace("ID", id), body);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
    expect((await api("GET", `/conversations/${id}`)).body.data.messages).toEqual([]);
  });
});

describe("a posted message", () => {
  it("that is too large with its response format is rejected with the name of the larger field", async () => {
    const id = await create();
    const responseFormat = (bytes: number) => ({
      type: "json_schema",
      json_schema: { schema: { type: "object", description: "d".repeat(bytes) } },
    });
    for (const [content, bytes, field] of [
      ["x".repeat(120_000), 150_000, "response_format"],
      ["x".repeat(130_000), 140_000, "response_format"],
      ["x".repeat(131_070), 130_980, "content"],
    ] as const) {
      const { status, body } = await post(id, { content, response_format: responseFormat(bytes) });
      expect([status, body.error.details.map(({ path }: { path: string }) => path)]).toEqual([422, [field]]);
    }
    expect((await api("GET", `/conversations/${id}`)).body.data.messages).toEqual([]);
  });

  it("is answered by a chat job with the history, and both are stored", async () => {
    await using island = await join();
    const id = await create({ system_prompt: "Be kind" });
    const answered = post(id, { content: "Hi", temperature: 0, max_completion_tokens: 7, seed: null });
    const assign = await island.next("assign");
    expect(assign.input).toEqual({
      messages: [
        { role: "system", content: "Be kind" },
        { role: "user", content: "Hi" },
      ],
      temperature: 0,
      max_tokens: 7,
    });
    island.send(...runFrames(assign, "Hel", "lo"));
    const { status, body } = await answered;
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      message: {
        role: "assistant",
        content: "Hello",
        status: "completed",
        job_id: assign.jobId,
        finish_reason: "stop",
      },
      user_message: { role: "user", content: "Hi", status: "completed", job_id: null },
      job_id: assign.jobId,
      usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
    });
    await say(island, id, "More?", "Yes");
    const third = await say(island, id, "And?", "No");
    expect(contentsOf(third)).toEqual(["Be kind", "Hi", "Hello", "More?", "Yes", "And?"]);
    const page = await api("GET", `/conversations/${id}?order=desc&limit=2&offset=1`);
    expect(page.body.data.messages.map(({ content }: { content: string }) => content)).toEqual(["And?", "Yes"]);
    expect(page.body.meta).toEqual({ total: 6, limit: 2, offset: 1 });
    expect((await api("GET", `/jobs/${assign.jobId}`)).body.data).toMatchObject({
      status: "completed",
      output: "Hello",
    });
  });

  it("streams the job's events after one with the ids of message and job, and event ids resume", async () => {
    await using island = await join();
    const id = await create();
    const opened = openStream(id, { content: "Hi" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "one ", "two "));
    const response = await opened;
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    island.send(outputFrame(assign, 2, "three"), finishedFrame(assign, 3, { completionTokens: 3 }));
    const [head = "", ...blocks] = (await response.text()).trimEnd().split("\n\n");
    const [, event, json] = /^event: (\S+)\ndata: (.*)$/.exec(head) ?? [];
    expect(event).toBe("message");
    expect(JSON.parse(json ?? "")).toMatchObject({
      type: "message",
      conversation_id: id,
      job_id: assign.jobId,
      message: { role: "assistant", job_id: assign.jobId },
      user_message: { role: "user", content: "Hi" },
    });
    const replayed = await collect(jobEvents(world.coordinator.url, world.account.key, assign.jobId));
    const ids = blocks.map((block) => /^id: (.*)$/m.exec(block)?.[1]);
    expect(ids).toEqual(replayed.map((each) => each.id));
    expect(textOf(replayed)).toBe("one two three");
    const rest = await collect(
      jobEvents(world.coordinator.url, world.account.key, assign.jobId, { lastEventId: ids.at(-3) ?? "" }),
    );
    expect(rest.map((each) => each.event)).toEqual(["token", "done"]);
  });

  it("may be sent as soon as the stream of the previous answer ends, because that answer is already stored", async () => {
    await using island = await join();
    const id = await create();
    for (let round = 0; round < 20; round += 1) {
      const opened = openStream(id, { content: `q${round}` });
      const assign = await island.next("assign");
      island.send(...runFrames(assign, `a${round}`));
      await (await opened).text();
      const { messages } = (await api("GET", `/conversations/${id}?order=desc&limit=1`)).body.data;
      expect(messages).toMatchObject([{ content: `a${round}`, status: "completed" }]);
    }
  });

  it("is refused while another message is being answered, and the order of messages is kept", async () => {
    await using island = await join();
    const id = await create();
    const answered = post(id, { content: "first" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "so far"));
    const { body } = await until(
      () => api("GET", `/conversations/${id}`),
      (shown) => shown.body.data.messages[1]?.content === "so far",
      "delivered",
    );
    expect(body.data.messages).toMatchObject([
      { role: "user", content: "first" },
      { role: "assistant", content: "so far", status: "in_progress" },
    ]);
    const refused = await post(id, { content: "second" });
    expect([refused.status, refused.body.error.code]).toEqual([422, "conversation_busy"]);
    island.send(finishedFrame(assign, 2, { completionTokens: 1 }));
    await answered;
    expect((await api("GET", "/jobs")).body.meta.total).toBe(1);
  });

  it("is accepted exactly once among many concurrent ones", async () => {
    await using island = await join();
    const id = await create();
    const statuses: number[] = [];
    const answers = Array.from({ length: 8 }, async (_, index) => {
      statuses.push((await post(id, { content: `m${index}` })).status);
    });
    const assign = await island.next("assign");
    // The Island answers only after the other messages were refused, because a message after the answer would be
    // accepted.
    await until(
      async () => statuses.length,
      (count) => count === 7,
      "seven are refused",
    );
    island.send(...runFrames(assign, "ok"));
    await Promise.all(answers);
    expect(statuses).toEqual([...Array<number>(7).fill(422), 200]);
    expect((await api("GET", `/conversations/${id}`)).body.meta.total).toBe(2);
  });

  it("is not stored if the credits do not cover its answer", async () => {
    const poor = await world.coordinator.createAccount("poor@example.com", 0);
    const created = await api("POST", "/conversations", {}, poor.key);
    const path = `/conversations/${created.body.data.id as string}`;
    expect((await api("POST", `${path}/messages`, { content: "Hi" }, poor.key)).status).toBe(402);
    expect((await api("GET", path, undefined, poor.key)).body.data.messages).toEqual([]);
  });

  it("is cancelled if its client disconnects, and the delivered text is kept", async () => {
    await using island = await join();
    const id = await create();
    const leave = new AbortController();
    const opened = openStream(id, { content: "Hi" }, leave.signal);
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), outputFrame(assign, 1, "half"));
    await opened;
    leave.abort();
    expect(await island.next("cancel")).toMatchObject({ jobId: assign.jobId, reason: "cancelled" });
    const { body } = await until(
      () => api("GET", `/conversations/${id}`),
      (shown) => shown.body.data.messages[1]?.status !== "in_progress",
      "ended",
    );
    expect(body.data.messages[1]).toMatchObject({ content: "half", status: "cancelled", error: { code: "cancelled" } });
    island.send({ type: "cancelled", jobId: assign.jobId, attempt: assign.attempt, seq: 2 });
    const next = await say(island, id, "Go on", "whole");
    expect(contentsOf(next)).toEqual(["Hi", "half", "Go on"]);
  });

  it("gets an answer with the error if its job fails, and later prompts omit that answer", async () => {
    await using island = await join();
    const id = await create();
    const answered = post(id, { content: "bad" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign), failedFrame(assign, 1, "model_invalid"));
    const { status, body } = await answered;
    expect([status, body.error.code, body.error.job_error]).toEqual([500, "job_failed", "model_invalid"]);
    const { messages } = (await api("GET", `/conversations/${id}`)).body.data;
    expect(messages[1]).toMatchObject({ content: "", status: "failed", error: { code: "model_invalid" } });
    expect(contentsOf(await say(island, id, "good", "fine"))).toEqual(["good"]);
  });

  it("waits for an Island like a chat, then returns 503", async () => {
    await world.coordinator.stop();
    world.coordinator.withFlags({ chatWaitS: 0.3 });
    await world.coordinator.start();
    const id = await create();
    const { status, body, headers } = await post(id, { content: "Hi" });
    expect([status, body.error.code, headers.get("retry-after")]).toEqual([503, "no_island_available", "5"]);
    const { messages } = (await api("GET", `/conversations/${id}`)).body.data;
    expect(messages[1]).toMatchObject({ status: "timeout", error: { code: "wait_timeout" } });
  });

  it("is cancelled if its conversation is deleted", async () => {
    await using island = await join();
    const id = await create();
    const answered = post(id, { content: "Hi" });
    const assign = await island.next("assign");
    island.send(...beginFrames(assign));
    expect((await api("DELETE", `/conversations/${id}`)).status).toBe(200);
    expect((await island.next("cancel")).jobId).toBe(assign.jobId);
    expect((await answered).status).toBe(404);
    expect((await api("GET", `/jobs/${assign.jobId}`)).body.data.status).toBe("cancelled");
  });
});
