import { describe, expect, it } from "vitest";
import { stemOf } from "../../../../island-agent/models/store/store-recovery.ts";
import { file, makeBytes } from "../file-server.ts";
import { failureOf, makeRef, NEVER, StoreFixture } from "../store-fixture.ts";
import { BYTES, keysOf, pull, serve } from "./store-calls.ts";

describe("ModelStore's disk budget", () => {
  const sized = (fixture: StoreFixture, name: string, length = 100_000) =>
    serve(fixture, name, makeBytes(length, name));

  it("evicts the least recently used model first, by use and not by age", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b, c] = [sized(fixture, "a"), sized(fixture, "b"), sized(fixture, "c")];
    const store = await fixture.open({ budgetBytes: 250_000 });
    await pull(store, a);
    await pull(store, b);
    await pull(store, a);
    await pull(store, c);
    expect(keysOf(store)).toEqual([a.sha256, c.sha256]);
    expect(await fixture.files()).toHaveLength(3);
    expect(store.usage()).toEqual({ budgetBytes: 250_000, usedBytes: 200_000, evictableBytes: 200_000 });
  });

  it("remembers the order of use over a restart", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b, c] = [sized(fixture, "a"), sized(fixture, "b"), sized(fixture, "c")];
    const store = await fixture.open({ budgetBytes: 250_000 });
    for (const ref of [a, b, a]) await pull(store, ref);
    await store.close();
    const reopened = await fixture.open({ budgetBytes: 250_000 });
    await pull(reopened, c);
    expect(new Set(keysOf(reopened))).toEqual(new Set([a.sha256, c.sha256]));
  });

  it("never evicts a model in use, and refuses with both figures before any request", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a"), sized(fixture, "b", 200_000)];
    const store = await fixture.open({ budgetBytes: 250_000 });
    const lease = await store.acquire("x", a, NEVER);
    const error = await failureOf(store.acquire("x", b, NEVER));
    expect(error).toMatchObject({ code: "model_unavailable", retryable: true });
    expect(error.message).toContain("needs 196 KiB on disk. The budget is 245 KiB: 98 KiB are in use");
    expect(fixture.server.requests).toHaveLength(1);
    lease.release();
    await pull(store, b);
    expect(keysOf(store)).toEqual([b.sha256]);
  });

  it("evicts nothing for a model that cannot fit at all", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a"), sized(fixture, "b", 300_000)];
    const store = await fixture.open({ budgetBytes: 250_000 });
    await pull(store, a);
    await failureOf(store.acquire("x", b, NEVER));
    expect(keysOf(store)).toEqual([a.sha256]);
  });

  it("evicts while a model of unknown size grows, and stops it at the budget", async () => {
    await using fixture = await StoreFixture.make();
    const a = sized(fixture, "a");
    fixture.server.on("/models/b.gguf", file(makeBytes(3_000_000), { chunked: true }));
    const store = await fixture.open({ budgetBytes: 1_000_000 });
    await pull(store, a);
    const error = await failureOf(store.acquire("x", makeRef({ url: "/models/b.gguf" }), NEVER));
    expect(error.code).toBe("model_unavailable");
    expect(keysOf(store)).toEqual([]);
    expect(store.usage().usedBytes).toBeLessThanOrEqual(1_000_000);
  });

  it("does not let two downloads count on the same room", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a", 150_000), sized(fixture, "b", 150_000)];
    fixture.server.on("/models/a.gguf", () => undefined);
    const store = await fixture.open({ budgetBytes: 250_000 });
    const leave = new AbortController();
    const first = failureOf(store.acquire("x", a, leave.signal));
    await fixture.server.arrived(1);
    expect((await failureOf(store.acquire("x", b, NEVER))).message).toContain("147 KiB reserved by downloads");
    leave.abort(new Error("enough"));
    await first;
    await expect.poll(() => store.usage().usedBytes).toBe(0);
    await pull(store, b);
  });

  it("counts and evicts the parts of broken-off downloads like models", async () => {
    await using fixture = await StoreFixture.make();
    const b = sized(fixture, "b", 200_000);
    fixture.server.on("/models/a.gguf", file(BYTES, { cutAfter: 100_000, ignoreRange: true }));
    const store = await fixture.open({ budgetBytes: 250_000, fetch: { tries: 1 } });
    await failureOf(store.acquire("x", makeRef(), NEVER));
    expect(store.usage().usedBytes).toBe(100_000);
    await pull(store, b);
    expect(await fixture.files()).toEqual([`${stemOf(b.sha256 ?? "")}.gguf`, "index.json"].sort());
  });

  it("is applied to what is there when it has become smaller", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a"), sized(fixture, "b")];
    const store = await fixture.open();
    await pull(store, a);
    await pull(store, b);
    await store.close();
    expect(keysOf(await fixture.open({ budgetBytes: 150_000 }))).toEqual([b.sha256]);
  });
});

describe("ModelStore.remove() and prune()", () => {
  it("delete what is not in use and say what they did", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [serve(fixture, "a", BYTES), serve(fixture, "b", makeBytes(1_000))];
    const store = await fixture.open();
    const lease = await store.acquire("x", a, NEVER);
    await pull(store, b);
    expect(await store.remove(lease.key)).toBe("in_use");
    expect(await store.remove("unknown")).toBe("absent");
    expect(await store.prune()).toEqual({ removed: 1, freedBytes: 1_000 });
    lease.release();
    expect(await store.remove(lease.key)).toBe("removed");
    expect(await fixture.files()).toEqual(["index.json"]);
  });

  it("remove() leaves a download alone", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }));
    const store = await fixture.open();
    const failure = failureOf(store.acquire("x", makeRef(), NEVER));
    await fixture.server.arrived(1);
    expect(await store.remove("/models/a.gguf")).toBe("in_use");
    await store.close();
    expect((await failure).code).toBe("shutting_down");
  });
});
