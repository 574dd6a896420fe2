import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { OpenAI, toFile } from "openai";
import type { Batch } from "openai/resources/batches";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WritableFeed } from "../../../coordinator/jobs/feed.ts";
import { Api, eventually } from "../http/api.ts";
import { completeWith, failWith, MESSAGES, token } from "../http/scripted-chats.ts";
import { DONE } from "../http/scripted-jobs.ts";

let api: Api;
beforeEach(async () => {
  api = await Api.open();
});
afterEach(() => api[Symbol.asyncDispose]());

const client = () => new OpenAI({ apiKey: api.key, baseURL: `${api.url}/api/v1`, maxRetries: 0 });
const CHAT = "/v1/chat/completions";
const chatLine = (custom_id: string, body: object = {}) => ({
  custom_id,
  method: "POST",
  url: CHAT,
  body: { model: "tiny", messages: MESSAGES, ...body },
});

let fileCount = 0;
type Endpoint = OpenAI.BatchCreateParams["endpoint"];

async function create(
  lines: readonly (object | string)[],
  purpose: "batch" | "user_data" = "batch",
  endpoint: Endpoint = CHAT,
): Promise<Batch> {
  // Each test has its own disk, but all tests share one store, in which equal files share their content. Therefore no
  // two files are equal.
  fileCount += 1;
  const texts = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  const text = [...texts, " ".repeat(fileCount)].join("\n");
  const file = await client().files.create({ file: await toFile(Buffer.from(text), "lines.jsonl"), purpose });
  return client().batches.create({ input_file_id: file.id, endpoint, completion_window: "24h" });
}

const ENDED = new Set(["completed", "failed", "expired", "cancelled"]);

const stateOf = async (id: string) => (await api.fileBatches.get(api.accountId, id)).progress.state;

/**
 * Polls the store instead of the API, because requests count towards limits and the clock stands still. Calls
 * `meanwhile` between two polls.
 */
async function ended(id: string, meanwhile: () => void = () => undefined): Promise<Batch> {
  while (!ENDED.has(await stateOf(id))) {
    meanwhile();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  return client().batches.retrieve(id);
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read what the files say
type Line = Record<string, any>;

async function linesOf(fileId: string | null | undefined): Promise<Line[]> {
  if (fileId == null) return [];
  const text = await (await client().files.content(fileId)).text();
  const lines = text.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Line);
}

describe("file batches", () => {
  it("write responses to one file and failed lines to another", async () => {
    completeWith(api, "Hel", "lo");
    const lines = [
      chatLine("a"),
      chatLine("b", { temperature: 9 }),
      "",
      chatLine("c"),
      chatLine("d", { stream: true }),
    ];
    const created = await create(lines);
    expect(created).toMatchObject({ object: "batch", endpoint: CHAT, status: "validating", errors: null });
    const batch = await ended(created.id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 4, completed: 2, failed: 2 } });
    const output = await linesOf(batch.output_file_id);
    expect(new Map(output.map(({ custom_id, error }) => [custom_id, error]))).toEqual(
      new Map([
        ["a", null],
        ["c", null],
      ]),
    );
    expect(output[0]).toMatchObject({
      response: { status_code: 200, body: { choices: [{ message: { content: "Hello" } }] } },
    });
    const failures = await linesOf(batch.error_file_id);
    expect(
      failures.map(({ custom_id, response }) => [custom_id, response.status_code, response.body.error.param]),
    ).toEqual(
      expect.arrayContaining([
        ["b", 400, "temperature"],
        ["d", 400, "stream"],
      ]),
    );
  });

  it("run each line for /v1/responses independently", async () => {
    completeWith(api, "Hel", "lo");
    const url = "/v1/responses";
    const bodies = {
      plain: {},
      after: { previous_response_id: "resp_1" },
      later: { background: true },
      unstored: { store: false },
      streamed: { stream: true },
    };
    const lines = Object.entries(bodies).map(([custom_id, body]) => ({
      custom_id,
      method: "POST",
      url,
      body: { model: "tiny", input: "Hi", ...body },
    }));
    const batch = await ended((await create(lines, "batch", url)).id);
    const output = await linesOf(batch.output_file_id);
    expect(output).toMatchObject([
      { custom_id: "plain", response: { body: { status: "completed", output: [{ content: [{ text: "Hello" }] }] } } },
    ]);
    const failures = await linesOf(batch.error_file_id);
    expect(Object.fromEntries(failures.map((line) => [line["custom_id"], line["response"].body.error.param]))).toEqual({
      after: "previous_response_id",
      later: "background",
      unstored: "store",
      streamed: "stream",
    });
    expect(api.jobs.submitted).toHaveLength(1);
  });

  it("fail with the numbers of the invalid lines before any becomes a job", async () => {
    const wrongUrl = { ...chatLine("c"), url: "/v1/embeddings" };
    const { id } = await create([chatLine("a"), "{", chatLine("a"), wrongUrl, { ...chatLine("e"), method: "GET" }]);
    const batch = await ended(id);
    expect(batch.status).toBe("failed");
    expect(batch.errors?.data?.map(({ code, line }) => [code, line])).toEqual([
      ["invalid_json_line", 2],
      ["duplicate_custom_id", 3],
      ["mismatched_endpoint", 4],
      ["invalid_method", 5],
    ]);
    expect(api.jobs.submitted).toEqual([]);
  });

  it("write the error of a failed job", async () => {
    failWith(api, "runtime_crashed");
    const batch = await ended((await create([chatLine("a")])).id);
    expect(batch).toMatchObject({ status: "completed", request_counts: { total: 1, completed: 0, failed: 1 } });
    expect(batch.output_file_id).toBeNull();
    expect(await linesOf(batch.error_file_id)).toMatchObject([
      { custom_id: "a", response: { status_code: 500, body: { error: { code: "job_failed" } } } },
    ]);
  });

  it("submit jobs that wait like batch jobs, with their own idempotency keys", async () => {
    completeWith(api, "x");
    const { id } = await create([chatLine("a", { n: 2 })]);
    await ended(id);
    expect(api.jobs.submitted.map(({ idempotency, waitLimitMs }) => [idempotency?.key, waitLimitMs])).toEqual([
      [`${id}/1/1`, undefined],
      [`${id}/1/2`, undefined],
    ]);
  });

  it("cancel their jobs and write a line for each request when cancelled", async () => {
    api.jobs.onSubmit = () => undefined;
    const { id } = await create(["a", "b", "c", "d", "e", "f", "g", "h", "i"].map((name) => chatLine(name)));
    await eventually(() => api.jobs.submitted.length > 4);
    expect((await client().batches.cancel(id)).status).toMatch(/^cancell/);
    const batch = await ended(id);
    expect(batch).toMatchObject({ status: "cancelled", request_counts: { total: 9, completed: 0, failed: 9 } });
    const failures = await linesOf(batch.error_file_id);
    expect(new Set(failures.map(({ error }) => error.code))).toEqual(new Set(["batch_cancelled"]));
    expect(failures.length).toBe(9);
    // An ended batch does not change.
    expect((await client().batches.cancel(id)).status).toBe("cancelled");
  });

  it("are cancelled when their API key, and no other, is revoked or expires", async () => {
    api.jobs.onSubmit = () => undefined;
    const [first, second] = await api.accounts.listKeys(api.accountId);
    const revoke = (id: string) => api.accounts.revokeKey(api.accountId, id);
    const later = () => api.clock.advance(3_000);
    const key = await api.accounts.createKey(api.accountId, {
      name: "batches",
      scopes: ["read", "write"],
      limits: { expiresAtMs: api.clock.now() + 60_000 },
    });
    const mine = await create([chatLine("a")]);
    const { body: expiring } = await api.call("POST", "/batches", {
      key: key.secret,
      body: { input_file_id: mine.input_file_id, endpoint: CHAT, completion_window: "24h" },
    });
    await eventually(() => api.jobs.submitted.length === 2);
    for (const { id, name } of [first!, second!]) if (name !== "read+write") await revoke(id);
    later();
    await api.store.accounts.listKeys(api.accountId);
    expect([await stateOf(mine.id), await stateOf(expiring.id)]).toEqual(["in_progress", "in_progress"]);
    api.clock.advance(60_000);
    expect((await ended(expiring.id, later)).status).toBe("cancelled");
    const own = (await api.accounts.listKeys(api.accountId)).find(({ name }) => name === "read+write");
    await revoke(own!.id);
    await expect.poll(() => (later(), stateOf(mine.id))).toBe("cancelled");
  });

  it("keep their input until they end, even past its expiry", async () => {
    api.jobs.onSubmit = () => undefined;
    const { id, input_file_id } = await create([chatLine("a")]);
    await eventually(() => api.jobs.submitted.length === 1);
    await expect(client().files.delete(input_file_id)).rejects.toMatchObject({ status: 422, code: "file_in_use" });
    await client().batches.cancel(id);
    await ended(id);
    expect((await client().files.delete(input_file_id)).deleted).toBe(true);
  });

  it("fail when the coordinator's disk does not have the input", async () => {
    const { input_file_id } = await create(["{"]);
    await rm(join(api.directory, "files", "content"), { recursive: true });
    const { id } = await client().batches.create({ input_file_id, endpoint: CHAT, completion_window: "24h" });
    // A network file system may return a file late.
    const batch = await ended(id, () => api.clock.advance(1_000));
    expect(batch).toMatchObject({ status: "failed", errors: { data: [{ code: "file_unavailable" }] } });
  });

  it("reserve space for their growing results in the account's budget", async () => {
    const feeds: WritableFeed[] = [];
    api.jobs.onSubmit = (feed) => void feeds.push(feed);
    const finish = (chars: number) => {
      const feed = feeds.shift();
      feed?.push([token("x".repeat(chars))]);
      feed?.end(DONE);
    };
    const full = async (bytes: number) =>
      client().files.create({ file: await toFile(Buffer.alloc(bytes, bytes % 251), "full"), purpose: "user_data" });
    const { id } = await create([chatLine("a"), chatLine("b")]);
    await eventually(() => feeds.length === 2);
    finish(10);
    await expect.poll(async () => (await api.fileBatches.get(api.accountId, id)).progress.completed).toBe(1);
    const [, second] = [await full(990_000), await full(920_000)];
    finish(90_000);
    const failed = await ended(id);
    expect(failed).toMatchObject({ status: "failed", errors: { data: [{ code: "file_budget_exceeded" }] } });
    // Charged results that fit.
    expect((await linesOf(failed.output_file_id)).map(({ custom_id }) => custom_id)).toEqual(["a"]);
    // The reserved space is free again.
    await client().files.delete(second.id);
    await full(985_000);
    await expect(full(999_999)).rejects.toMatchObject({ code: "file_budget_exceeded" });
  });

  it("end with their account, which gets no files afterwards", async () => {
    api.jobs.onSubmit = () => undefined;
    const { id } = await create([chatLine("a")]);
    await eventually(() => api.jobs.submitted.length === 1);
    await api.fileBatches.removeAll(api.accountId);
    await expect(api.fileBatches.get(api.accountId, id)).rejects.toMatchObject({ code: "not_found" });
    expect((await client().files.list()).data.map(({ purpose }) => purpose)).toEqual(["batch"]);
    expect(await readdir(api.files.arriving)).toEqual([]);
  });

  it("are refused if twenty are unfinished, and a refused one does not keep its input", async () => {
    api.jobs.onSubmit = () => undefined;
    const { input_file_id } = await create([chatLine("a")]);
    const another = () => client().batches.create({ input_file_id, endpoint: CHAT, completion_window: "24h" });
    const ids = await Promise.all(Array.from({ length: 19 }, async () => (await another()).id));
    const file = await client().files.create({ file: await toFile(Buffer.from("{}"), "b"), purpose: "batch" });
    const refused = { input_file_id: file.id, endpoint: CHAT, completion_window: "24h" } as const;
    await expect(client().batches.create(refused)).rejects.toMatchObject({ status: 422, param: "input_file_id" });
    expect((await client().files.delete(file.id)).deleted).toBe(true);
    expect(ids).toHaveLength(19);
  });

  it("are listed in pages, newest first, only for their account", async () => {
    completeWith(api, "x");
    const ids = [];
    for (const name of ["a", "b", "c"]) ids.push((await create([chatLine(name)])).id);
    const listed = [];
    for await (const { id } of client().batches.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids.toReversed());
    const other = await Api.open();
    try {
      expect((await other.call("GET", `/batches/${ids[0]}`)).status).toBe(404);
      expect((await other.call("GET", "/batches")).body.data).toEqual([]);
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });

  it("require a file with the purpose batch and a supported endpoint", async () => {
    await expect(create([chatLine("a")], "user_data")).rejects.toMatchObject({ status: 422, param: "input_file_id" });
    const body = { input_file_id: "file_1", completion_window: "24h" };
    for (const [field, endpoint] of [
      ["endpoint", "/v1/audio/speech"],
      ["input_file_id", CHAT],
    ]) {
      const { status, body: answer } = await api.call("POST", "/batches", { body: { ...body, endpoint } });
      expect([status, answer.error.param]).toEqual([422, field]);
    }
  });
});
