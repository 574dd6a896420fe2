import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  Atoll,
  AtollError,
  AuthenticationError,
  ConnectionError,
  InsufficientCreditsError,
  JobFailedError,
  NotFoundError,
  PermissionDeniedError,
  ProtocolError,
  RateLimitError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
  ValidationError,
} from "../../sdk/typescript/src/index.ts";
import type { Fault } from "./faulty-proxy.ts";
import { CARGO, SdkFixture } from "./sdk-fixture.ts";

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());
beforeEach(() => fixture.proxy.script());

const refusal = (status: number, code: string, more: object = {}, headers: Record<string, string> = {}): Fault => ({
  kind: "respond",
  status,
  headers,
  body: { error: { message: `It is ${code}`, code, ...more } },
});
const times = (count: number, fault: Fault): Fault[] => Array.from({ length: count }, () => fault);
const jobCount = async (): Promise<number> => (await fixture.client().jobs.list().page()).meta.total;
const submission = { workload: CARGO, input: { prompt: "Hi" } };

describe("A call", () => {
  it.each([
    [429, "rate_limited", RateLimitError],
    [503, "shutting_down", ServiceUnavailableError],
  ])(
    "is retried after %i even if it is not idempotent, and throws when no retries are left",
    async (status, code, Class) => {
      fixture.proxy.script(...times(2, refusal(status, code)));
      const { id } = await fixture.client({ maxRetries: 2 }).apiKeys.create({ name: "retried" });
      expect(id).toMatch(/^key_/);
      expect(fixture.proxy.seen.map(({ method }) => method)).toEqual(["POST", "POST", "POST"]);

      fixture.proxy.script(...times(3, refusal(status, code)));
      const refused = fixture.client({ maxRetries: 2 }).account.get();
      await expect(refused).rejects.toBeInstanceOf(Class);
      await expect(refused).rejects.toMatchObject({ status, code });
      expect(fixture.proxy.seen).toHaveLength(3);
    },
  );

  it("throws if Retry-After is more than a minute", async () => {
    const tooMany = refusal(429, "rate_limited", { limit: "login_attempts", retry_after: 61 }, { "retry-after": "61" });
    fixture.proxy.script(tooMany);
    await expect(fixture.client().account.get()).rejects.toMatchObject({ retryAfterS: 61, limit: "login_attempts" });
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("is retried after a lost connection if it is idempotent", async () => {
    fixture.proxy.script({ kind: "refuse" }, { kind: "swallow" }, { kind: "cut", afterBytes: 5 }, refusal(502, "x"));
    expect((await fixture.client().account.get()).email).toBe("client@example.com");
    expect(fixture.proxy.seen).toHaveLength(5);

    fixture.proxy.script(...times(9, { kind: "refuse" }));
    await expect(fixture.client({ maxRetries: 2 }).account.get()).rejects.toBeInstanceOf(ConnectionError);
    expect(fixture.proxy.seen).toHaveLength(3);
  });

  it("is sent once if it is not idempotent and its response is lost", async () => {
    const before = (await fixture.client().apiKeys.list()).length;
    fixture.proxy.script({ kind: "swallow" });
    await expect(fixture.client().apiKeys.create({ name: "lost" })).rejects.toBeInstanceOf(ConnectionError);
    expect(fixture.proxy.seen).toHaveLength(1);
    expect(await fixture.client().apiKeys.list()).toHaveLength(before + 1);
  });

  it("accepts its own maxRetries", async () => {
    fixture.proxy.script(...times(9, { kind: "refuse" }));
    await expect(fixture.client().account.get({ maxRetries: 0 })).rejects.toBeInstanceOf(ConnectionError);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("ends after timeoutMs of the client or the call, and is retried if that is safe", async () => {
    fixture.proxy.script(...times(9, { kind: "silence" }));
    await expect(fixture.client({ timeoutMs: 200, maxRetries: 1 }).account.get()).rejects.toBeInstanceOf(TimeoutError);
    expect(fixture.proxy.seen).toHaveLength(2);
    fixture.proxy.script(...times(9, { kind: "stall", afterBytes: 3 }));
    const stalled = fixture.client().apiKeys.create({}, { timeoutMs: 200 });
    await expect(stalled).rejects.toMatchObject({ name: "TimeoutError", code: "timeout", status: null });
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("throws the signal's reason before it is sent, while it waits, and between two attempts", async () => {
    const reason = new Error("changed my mind");
    const before = fixture.client().account.get({ signal: AbortSignal.abort(reason) });
    await expect(before).rejects.toBe(reason);
    expect(fixture.proxy.seen).toHaveLength(0);

    fixture.proxy.script({ kind: "silence" });
    const waiting = new AbortController();
    const pending = fixture.client().apiKeys.create({}, { signal: waiting.signal });
    await fixture.proxy.sees(1);
    waiting.abort(reason);
    await expect(pending).rejects.toBe(reason);

    fixture.proxy.script(refusal(503, "shutting_down", {}, { "retry-after": "50" }));
    const pausing = new AbortController();
    const responded = Promise.withResolvers<void>();
    // Returns complete responses, so that the client only waits for the pause.
    const readWhole: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      const whole = new Response(await response.text(), response);
      responded.resolve();
      return whole;
    };
    const paused = fixture.client({ fetch: readWhole }).account.get({ signal: pausing.signal });
    await responded.promise;
    await new Promise((resolve) => setImmediate(resolve));
    pausing.abort(reason);
    await expect(paused).rejects.toBe(reason);
    expect(fixture.proxy.seen).toHaveLength(1);
  });
});

describe("jobs.submit()", () => {
  it("creates one job despite lost responses", async () => {
    const before = await jobCount();
    fixture.proxy.script({ kind: "swallow" }, { kind: "cut", afterBytes: 10 }, { kind: "refuse" });
    const { id } = await fixture.client().jobs.submit(submission);
    expect(fixture.proxy.seen).toHaveLength(4);
    const keys = new Set(fixture.proxy.seen.map(({ headers }) => headers["idempotency-key"]));
    expect(keys.size).toBe(1);
    expect([...keys][0]).toMatch(/^[0-9a-f]{32}$/);
    expect(await jobCount()).toBe(before + 1);
    expect((await fixture.client().jobs.get(id)).status).not.toBe("failed");
  });

  it("creates a job per call, unless calls share an idempotencyKey", async () => {
    const { jobs } = fixture.client();
    const [first, second] = [await jobs.submit(submission), await jobs.submit(submission)];
    expect(first.id).not.toBe(second.id);
    const options = { idempotencyKey: "order-17" };
    expect((await jobs.submit(submission, options)).id).toBe((await jobs.submit(submission, options)).id);
    const other = jobs.submit({ ...submission, priority: 3 }, options);
    await expect(other).rejects.toMatchObject({ name: "ValidationError", code: "idempotency_conflict" });
  });
});

describe("the errors of the coordinator", () => {
  it("name all invalid fields", async () => {
    const refused = fixture.client().jobs.submit({ workload: CARGO, input: { prompt: 7 }, priority: 1 });
    await expect(refused).rejects.toBeInstanceOf(ValidationError);
    await expect(refused).rejects.toMatchObject({ status: 422, code: "validation_failed" });
    const error = await refused.catch((thrown: unknown) => thrown as ValidationError);
    expect((error as ValidationError).details.length).toBeGreaterThan(0);
    expect((error as ValidationError).requestId).toMatch(/./);
  });

  it("have distinct classes", async () => {
    const { jobs } = fixture.client();
    await expect(jobs.get("job_none")).rejects.toBeInstanceOf(NotFoundError);
    const unknown = jobs.submit({ workload: "no-such-cargo", input: {} });
    await expect(unknown).rejects.toMatchObject({ name: "NotFoundError", code: "cargo_not_found", status: 404 });
    await expect(fixture.client({ apiKey: "ak_wrong" }).account.get()).rejects.toBeInstanceOf(AuthenticationError);
    const { key } = await fixture.client().apiKeys.create({ scopes: ["read"] });
    await expect(fixture.client({ apiKey: key }).jobs.submit(submission)).rejects.toBeInstanceOf(PermissionDeniedError);
    const poor = await fixture.coordinator.createAccount("poor@example.com", 0);
    const unpaid = fixture.client({ apiKey: poor.key }).jobs.submit(submission);
    await expect(unpaid).rejects.toBeInstanceOf(InsufficientCreditsError);
    await expect(unpaid).rejects.toMatchObject({
      status: 402,
      code: "insufficient_credits",
      requiredCredits: expect.any(Number),
      balanceCredits: 0,
    });
  });

  it.each<[Fault, abstract new (...args: never) => Error, object]>([
    [refusal(500, "internal", { request_id: "r1" }), ServerError, { code: "internal", requestId: "r1" }],
    [
      refusal(500, "job_failed", { job_error: "out_of_memory", retryable: true }),
      JobFailedError,
      { jobError: "out_of_memory", retryable: true },
    ],
    [refusal(413, "payload_too_large"), ValidationError, { status: 413 }],
    [refusal(418, "teapot"), AtollError, { status: 418, code: "teapot" }],
    [
      { kind: "respond", status: 500, body: "<html>Oops</html>" },
      ServerError,
      { code: "http_500", message: "500 <html>Oops</html>" },
    ],
    [{ kind: "respond", status: 200, body: "<html>Hello</html>" }, ProtocolError, { code: "protocol" }],
  ])("have the right class for %j, without a retry", async (fault, Class, facts) => {
    fixture.proxy.script(fault);
    const refused = fixture.client().account.get();
    await expect(refused).rejects.toBeInstanceOf(Class);
    await expect(refused).rejects.toMatchObject(facts);
    expect(fixture.proxy.seen).toHaveLength(1);
  });

  it("close the connection if the response is not a stream", async () => {
    let cancelled = 0;
    const body = new ReadableStream({ cancel: () => void (cancelled += 1) });
    const page = new Response(body, { headers: { "content-type": "text/html" } });
    const atoll = new Atoll({ baseUrl: "http://atoll.example", apiKey: "ak_1", fetch: async () => page });
    const chat = atoll.chat.stream({ messages: [{ role: "user", content: "Hi" }] }).next();
    await expect(chat).rejects.toBeInstanceOf(ProtocolError);
    expect(cancelled).toBe(1);
  });

  it("keep the cause of a lost connection", async () => {
    fixture.proxy.script({ kind: "refuse" });
    const refused = fixture.client({ maxRetries: 0 }).account.get();
    await expect(refused).rejects.toMatchObject({ code: "connection", status: null, cause: expect.any(Error) });
  });
});

describe("a deletion with a lost response", () => {
  it("succeeds although the second attempt gets a 404", async () => {
    const { apiKeys } = fixture.client();
    const { id } = await apiKeys.create({ name: "short-lived" });
    fixture.proxy.script({ kind: "swallow" });
    await apiKeys.revoke(id);
    expect(fixture.proxy.seen).toHaveLength(2);
    await expect(apiKeys.revoke(id)).rejects.toBeInstanceOf(NotFoundError);
  });

  it("succeeds for a file, and a batch cancellation is retried", async () => {
    const { files, fileBatches } = fixture.client();
    const { id } = await files.upload({ content: new Blob(["a"]), filename: "a" });
    fixture.proxy.script({ kind: "swallow" });
    await files.delete(id);
    await expect(files.delete(id)).rejects.toBeInstanceOf(NotFoundError);
    fixture.proxy.script({ kind: "swallow" });
    await expect(fileBatches.cancel("batch_none")).rejects.toBeInstanceOf(NotFoundError);
    expect(fixture.proxy.seen).toHaveLength(2);
  });
});

describe("Account resources", () => {
  it("read usage with the sums of all pages", async () => {
    const { account } = fixture.client();
    const page = await account.usage({ from: "2026-01-01", to: "2026-01-31", by: ["day"], pageSize: 5 }).page();
    expect(page).toEqual({
      data: [],
      meta: { total: 0, limit: 5, offset: 0, from: "2026-01-01", to: "2026-01-31", spent: 0, earned: 0 },
    });
    for await (const line of account.usage({ apiKey: "key_none" })) expect.unreachable(line.kind);
  });

  it("limit keys, and reject a key that has reached its monthly limit", async () => {
    const { apiKeys } = fixture.client();
    const { id, data } = await apiKeys.create({ cargos: [CARGO], credits_per_month: 1 });
    expect(data).toMatchObject({ cargos: [CARGO], credits_per_month: 1, expires_at: null });
    expect(await apiKeys.update(id, { name: "night", cargos: null })).toMatchObject({
      name: "night",
      cargos: null,
      credits_this_month: 0,
    });
    const facts = { required_credits: 2, remaining_credits: 0.5, renews_at: "2026-02-01T00:00:00.000Z" };
    fixture.proxy.script(refusal(402, "key_credits_exceeded", facts));
    const refused = await fixture
      .client()
      .jobs.submit(submission)
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(InsufficientCreditsError);
    const month = { remainingCredits: 0.5, renewsAt: facts.renews_at, balanceCredits: null };
    expect(refused).toMatchObject({ code: "key_credits_exceeded", requiredCredits: 2, ...month });
  });

  it("need a session token for sessions and account changes", async () => {
    const { account, sessions } = fixture.client();
    const refused = await Promise.allSettled([
      sessions.list(),
      sessions.end("ses_x"),
      account.update({ current_password: "correct horse", email: "x@example.com" }),
      account.confirmEmail("ep_x"),
    ]);
    expect(refused).toMatchObject(Array.from({ length: 4 }, () => ({ reason: { status: 400 } })));
  });
});

describe("health()", () => {
  it("needs no key, and works with a degraded coordinator", async () => {
    const anyone = new Atoll({ baseUrl: fixture.proxy.url });
    expect(await anyone.health()).toMatchObject({ status: "ok", version: "0.0.0-test" });
    const degraded = { status: "degraded", version: "1", checks: { store: "failing" } };
    fixture.proxy.script({ kind: "respond", status: 503, body: degraded });
    expect(await anyone.health()).toEqual(degraded);
    expect(fixture.proxy.seen).toHaveLength(1);
    expect(fixture.proxy.seen[0]?.headers.authorization).toBeUndefined();
  });
});
