import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { freeBytesOn } from "../../../../island-agent/disk/free-bytes.ts";
import { stemOf } from "../../../../island-agent/models/store/store-recovery.ts";
import { CAN_MOUNT, SmallDisk } from "../../../support/small-disk.ts";
import { file, makeBytes } from "../file-server.ts";
import { failureOf, makeRef, NEVER, StoreFixture } from "../store-fixture.ts";
import { BYTES, keysOf, pull, serve } from "./store-calls.ts";

describe("ModelStore's disk budget", () => {
  const sized = (fixture: StoreFixture, name: string, length = 100_000) =>
    serve(fixture, name, makeBytes(length, name));

  it("evicts the least recently used model first, by use instead of age", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b, c] = [sized(fixture, "a"), sized(fixture, "b"), sized(fixture, "c")];
    const store = await fixture.open({ budgetBytes: 250_000 });
    await pull(store, a);
    await pull(store, b);
    await pull(store, a);
    await pull(store, c);
    expect(keysOf(store)).toEqual([a.sha256, c.sha256]);
    expect(await fixture.files()).toHaveLength(3);
    expect(store.usage()).toEqual({
      budgetBytes: 250_000,
      limitBytes: 250_000,
      usedBytes: 200_000,
      evictableBytes: 200_000,
    });
  });

  it("keeps the order of use across a restart", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b, c] = [sized(fixture, "a"), sized(fixture, "b"), sized(fixture, "c")];
    const store = await fixture.open({ budgetBytes: 250_000 });
    for (const ref of [a, b, a]) await pull(store, ref);
    await store.close();
    const reopened = await fixture.open({ budgetBytes: 250_000 });
    await pull(reopened, c);
    expect(new Set(keysOf(reopened))).toEqual(new Set([a.sha256, c.sha256]));
  });

  it("never evicts a model in use, and refuses with both sizes before any request", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a"), sized(fixture, "b", 200_000)];
    const store = await fixture.open({ budgetBytes: 250_000 });
    const lease = await store.acquire("x", a, NEVER);
    const error = await failureOf(store.acquire("x", b, NEVER));
    expect(error).toMatchObject({ code: "disk_full", retryable: true });
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

  it("evicts models while a download of unknown size grows, and stops the download at the budget", async () => {
    await using fixture = await StoreFixture.make();
    const a = sized(fixture, "a");
    fixture.server.on("/models/b.gguf", file(makeBytes(3_000_000), { chunked: true }));
    const store = await fixture.open({ budgetBytes: 1_000_000 });
    await pull(store, a);
    const error = await failureOf(store.acquire("x", makeRef({ url: "/models/b.gguf" }), NEVER));
    expect(error.code).toBe("disk_full");
    expect(keysOf(store)).toEqual([]);
    expect(store.usage().usedBytes).toBeLessThanOrEqual(1_000_000);
  });

  it("does not let two downloads use the same free space", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a", 150_000), sized(fixture, "b", 150_000)];
    fixture.server.on("/models/a.gguf", () => undefined);
    const store = await fixture.open({ budgetBytes: 250_000 });
    const leave = new AbortController();
    const first = failureOf(store.acquire("x", a, leave.signal));
    await fixture.server.arrived(1);
    expect((await failureOf(store.acquire("x", b, NEVER))).message).toContain("147 KiB are reserved by downloads");
    leave.abort(new Error("enough"));
    await first;
    await expect.poll(() => store.usage().usedBytes).toBe(0);
    await pull(store, b);
  });

  it("admits a job's model despite a preload's reservation, and waits until the stopped preload has released it", async () => {
    await using fixture = await StoreFixture.make();
    const [a, b] = [sized(fixture, "a", 150_000), sized(fixture, "b", 150_000)];
    fixture.server.on("/models/a.gguf", file(makeBytes(150_000, "a"), { stallAfter: 10_000 }));
    const store = await fixture.open({ budgetBytes: 250_000 });
    const leave = new AbortController();
    const preload = failureOf(store.acquire("x", a, leave.signal, undefined, false));
    await expect.poll(() => store.downloads()[0]?.receivedBytes).toBe(10_000);
    store.assertModelsFit([b]);
    leave.abort(new Error("a job goes first"));
    await pull(store, b);
    await preload;
    expect(keysOf(store)).toEqual([b.sha256]);
  });

  it("counts and evicts the parts of interrupted downloads like models", async () => {
    await using fixture = await StoreFixture.make();
    const b = sized(fixture, "b", 200_000);
    fixture.server.on("/models/a.gguf", file(BYTES, { cutAfter: 100_000, ignoreRange: true }));
    const store = await fixture.open({ budgetBytes: 250_000, fetch: { maxAttempts: 1 } });
    await failureOf(store.acquire("x", makeRef(), NEVER));
    expect(store.usage().usedBytes).toBe(100_000);
    await pull(store, b);
    expect(await fixture.files()).toEqual([`${stemOf(b.sha256 ?? "")}.gguf`, "index.json"].sort());
  });

  it("evicts stored models when the store opens with a lower budget", async () => {
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
  it("delete items that are not in use and report the result", async () => {
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

  it("remove() does not affect a download", async () => {
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

describe.runIf(CAN_MOUNT)("ModelStore on a disk of 8 MB", () => {
  const KEPT = 3_000_000;
  let disk: SmallDisk;
  beforeEach(() => {
    disk = new SmallDisk(8_000_000);
  });
  afterEach(() => disk[Symbol.dispose]());

  const freeBytes = (): number => freeBytesOn(disk.path) ?? 0;

  it("refuses a model that would use the reserved free space, with all sizes, before any request", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    const a = serve(fixture, "a", makeBytes(5_500_000, "a"));
    const store = await fixture.open({ minFreeBytes: KEPT });
    const error = await failureOf(store.acquire("x", a, NEVER));
    expect(error).toMatchObject({ code: "disk_full", retryable: true });
    expect(error.message).toMatch(
      /^The model needs 5\.2 MiB on disk\. 7\.\d MiB are free, and 2\.9 MiB must stay free \(models\.min_free_gb\)\. Free space/,
    );
    expect(fixture.server.requests).toEqual([]);
    expect(() => store.assertModelsFit([a])).toThrow(error.message);
  });

  it("refuses a model when its server reports the length, before the first byte, and remembers the length", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    const ref = { ...serve(fixture, "a", makeBytes(5_500_000, "a")), sizeBytes: null };
    const store = await fixture.open({ minFreeBytes: KEPT });
    store.assertModelsFit([ref]);
    const before = freeBytes();
    expect(await failureOf(store.acquire("x", ref, NEVER))).toMatchObject({ code: "disk_full" });
    expect(fixture.server.requests).toHaveLength(1);
    expect(before - freeBytes()).toBeLessThan(20_000);
    expect(() => store.assertModelsFit([ref])).toThrow("The model needs 5.2 MiB on disk");
  });

  it("evicts models for the reserved free space, and none if that would not free enough", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    const [a, b] = ["a", "b"].map((name) => serve(fixture, name, makeBytes(2_000_000, name)));
    const [c, large] = [serve(fixture, "c", makeBytes(2_500_000, "c")), serve(fixture, "d", makeBytes(6_000_000, "d"))];
    const store = await fixture.open({ minFreeBytes: KEPT });
    for (const ref of [a, b]) if (ref !== undefined) await pull(store, ref);
    await failureOf(store.acquire("x", large, NEVER));
    expect(keysOf(store)).toEqual([a?.sha256, b?.sha256]);
    await pull(store, c);
    expect(keysOf(store)).toEqual([b?.sha256, c.sha256]);
    expect(freeBytes()).toBeGreaterThan(KEPT);
  });

  it("does not count a running download twice", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    const [a, b] = [makeBytes(2_000_000, "a"), makeBytes(2_000_000, "b")];
    const first = serve(fixture, "a", a);
    fixture.server.onEach(first.url, file(a, { stallAfter: 1_500_000 }));
    const store = await fixture.open({ minFreeBytes: KEPT });
    const leave = new AbortController();
    const ended = failureOf(store.acquire("x", first, leave.signal));
    await expect.poll(() => store.downloads()[0]?.receivedBytes).toBe(1_500_000);
    await pull(store, serve(fixture, "b", b));
    const third = serve(fixture, "c", makeBytes(1_000_000, "c"));
    expect(await failureOf(store.acquire("x", third, NEVER, undefined, false))).toMatchObject({ code: "disk_full" });
    leave.abort(new Error("enough"));
    await ended;
  });

  it("deletes the part when the disk becomes full, and keeps that of another download that was stopped", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    const stopped = serve(fixture, "b", makeBytes(1_000_000, "b"));
    fixture.server.onEach(
      stopped.url,
      file(makeBytes(1_000_000, "b"), { stallAfter: 500_000 }),
      file(makeBytes(1_000_000, "b")),
    );
    const store = await fixture.open();
    const leave = new AbortController();
    const left = failureOf(store.acquire("x", stopped, leave.signal));
    await expect.poll(() => store.downloads()[0]?.receivedBytes).toBe(500_000);
    leave.abort(new Error("enough"));
    await left;

    const bytes = makeBytes(4_000_000, "a");
    const ref = serve(fixture, "a", bytes);
    fixture.server.on(ref.url, (_request, response) => {
      response.writeHead(200, { "content-length": String(bytes.length) });
      response.write(bytes.subarray(0, 2_000_000), () => {
        void expect
          .poll(() => store.downloads()[0]?.receivedBytes)
          .toBe(2_000_000)
          .then(() => {
            disk.fill();
            response.end(bytes.subarray(2_000_000));
          });
      });
    });
    const error = await failureOf(store.acquire("x", ref, NEVER));
    expect(error).toMatchObject({ code: "disk_full", retryable: true });
    expect(error.message).toContain("The disk of the model store is full");
    disk.free();
    await expect.poll(() => store.parts().map(({ key }) => key)).toEqual([stopped.sha256]);
    expect((await fixture.files()).filter((name) => name.includes(stemOf(String(ref.sha256))))).toEqual([]);
    await pull(store, stopped);
    expect(fixture.server.requests.at(-1)).toMatchObject({ path: stopped.url, range: "bytes=500000-" });
  });

  it("deletes the part of a model of unknown size that has outgrown the space", async () => {
    await using fixture = await StoreFixture.make(disk.path);
    fixture.server.on("/models/a.gguf", file(makeBytes(6_000_000), { chunked: true }));
    const store = await fixture.open({ minFreeBytes: KEPT });
    const error = await failureOf(store.acquire("x", makeRef(), NEVER));
    expect(error).toMatchObject({ code: "disk_full" });
    expect(store.parts()).toEqual([]);
    expect(freeBytes()).toBeGreaterThan(7_000_000);
  });
});
