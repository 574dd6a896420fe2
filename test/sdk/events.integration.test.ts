import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Atoll, AuthenticationError, type ToldEvent } from "../../sdk/typescript/src/index.ts";
import { call } from "../support/http/http.ts";
import { fetchWithCookie } from "./cookie-jar.ts";
import { CARGO, finished, output, QUICK, SdkFixture, token } from "./sdk-fixture.ts";

let fixture: SdkFixture;
beforeAll(async () => {
  fixture = await SdkFixture.open();
});
afterAll(() => fixture[Symbol.asyncDispose]());

/** Reads until an event matches. Returns all events read. */
async function until(events: AsyncIterator<ToldEvent>, isLast: (event: ToldEvent) => boolean): Promise<ToldEvent[]> {
  const read: ToldEvent[] = [];
  for (;;) {
    const { value, done } = await events.next();
    if (done === true) throw new Error("The events ended");
    read.push(value);
    if (isLast(value)) return read;
  }
}

const ended = (jobId: string) => (event: ToldEvent) =>
  event.type === "job" && event.id === jobId && event.status === "completed";

async function runJob(): Promise<string> {
  const assign = await fixture.begin();
  fixture.island.send(output(assign, 1, token("Hi")), finished(assign, 2));
  return assign.jobId;
}

describe("events()", () => {
  it("starts with reset, yields changes of a job, and ends when the caller leaves or the signal aborts", async () => {
    const controller = new AbortController();
    const events = fixture.client().events({ signal: controller.signal });
    expect(await until(events, () => true)).toMatchObject([{ type: "reset" }]);
    const jobId = await runJob();
    expect((await until(events, ended(jobId))).at(-1)).toMatchObject({ type: "job", id: jobId, cargo: CARGO });
    controller.abort(new Error("enough"));
    await expect(until(events, () => false)).rejects.toThrow("enough");
    for await (const event of fixture.client().events()) {
      expect(event.type).toBe("reset");
      break;
    }
  });

  it("reports a lost connection, reconnects, and starts with reset", async () => {
    fixture.proxy.script({ kind: "cut", afterBytes: 150 });
    const events = fixture.client().events();
    await until(events, () => true);
    const jobId = await runJob();
    const read = await until(events, ({ type }) => type === "reset");
    expect(read.slice(-2).map(({ type }) => type)).toEqual(["offline", "reset"]);
    const nextId = await runJob();
    expect((await until(events, ended(nextId))).at(-1)).toMatchObject({ id: nextId });
    expect((await fixture.client().jobs.get(jobId)).status).toBe("completed");
    expect(fixture.proxy.seen.map(({ headers }) => headers["last-event-id"])).not.toContainEqual(expect.any(String));
    await events.return();
  });

  it("throws when the key is revoked", async () => {
    const { id, key } = await fixture.client().apiKeys.create({ name: "short" });
    const events = fixture.client({ apiKey: key }).events();
    await until(events, ({ type }) => type === "reset");
    await fixture.client().apiKeys.revoke(id);
    await until(events, ({ type }) => type === "offline");
    await expect(events.next()).rejects.toThrow(AuthenticationError);
  });

  it("works with the session of a page", async () => {
    const { fetch } = fetchWithCookie();
    const page = new Atoll({ baseUrl: fixture.coordinator.url, session: "cookie", fetch, ...QUICK });
    await page.auth.register({ email: "events@example.com", password: "long enough" });
    const events = page.events();
    await until(events, ({ type }) => type === "reset");
    const { id } = await page.jobs.submit({ workload: CARGO, input: { prompt: "Hi" } });
    const [told] = (await until(events, ({ type }) => type === "job")).slice(-1);
    expect(told).toMatchObject({ id });
    await page.auth.signOut();
    await until(events, ({ type }) => type === "offline");
    await expect(events.next()).rejects.toThrow(AuthenticationError);
  });

  it("continues with reset after a restart of the coordinator", async () => {
    const events = fixture.client().events();
    await until(events, ({ type }) => type === "reset");
    await fixture.coordinator.stop();
    await until(events, ({ type }) => type === "offline");
    await fixture.coordinator.start();
    expect((await until(events, () => true)).map(({ type }) => type)).toEqual(["reset"]);
    const { body } = await call(fixture.coordinator.url, fixture.apiKey, "POST", "/jobs", {
      workload: CARGO,
      input: { prompt: "Hi" },
    });
    await until(events, (event) => event.type === "job" && event.id === body.data.id);
    await events.return();
  });
});
