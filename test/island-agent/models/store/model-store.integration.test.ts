import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { ModelLease } from "../../../../island-agent/models/store/model-files.ts";
import type { ModelStore } from "../../../../island-agent/models/store/model-store.ts";
import { stemOf } from "../../../../island-agent/models/store/store-recovery.ts";
import { file, makeBytes, sha256, status } from "../file-server.ts";
import { failureOf, makeRef, NEVER, StoreFixture } from "../store-fixture.ts";

const BYTES = makeBytes(200_000);

/** Serves `bytes` at /models/<name>.gguf and gives the reference to it. */
function serve(fixture: StoreFixture, name: string, bytes: Buffer): ReturnType<typeof makeRef> {
  const url = `/models/${name}.gguf`;
  fixture.server.on(url, file(bytes));
  return makeRef({ url, sha256: sha256(bytes), sizeBytes: bytes.length });
}

/** Fetches a model and lets it go. */
async function pull(store: ModelStore, ref: ReturnType<typeof makeRef>): Promise<ModelLease> {
  const lease = await store.acquire("cargo", ref, NEVER);
  lease.release();
  return lease;
}

const keysOf = (store: ModelStore): string[] => store.list().map(({ key }) => key);

describe("ModelStore.acquire()", () => {
  it("downloads a model once and serves it from disk from then on, also after a restart", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const first = await pull(store, ref);
    expect(await readFile(first.path)).toEqual(BYTES);
    expect((await pull(store, ref)).path).toBe(first.path);
    await store.close();
    const reopened = await fixture.open();
    expect(await pull(reopened, ref)).toMatchObject({ path: first.path, key: ref.sha256, bytes: BYTES.length });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("names files by the key's hash, whatever the address says", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/models/x%2F..%2F..%2Fevil.gguf", file(BYTES));
    const store = await fixture.open();
    const ref = makeRef({ url: "/models/x%2F..%2F..%2Fevil.gguf" });
    await pull(store, ref);
    expect(await fixture.files()).toEqual([`${stemOf(ref.url)}.gguf`, "index.json"].sort());
  });

  it("fetches once for many callers, and every one holds the model", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const leases = await Promise.all(["x", "y", "x"].map((slug) => store.acquire(slug, ref, NEVER)));
    expect(fixture.server.requests).toHaveLength(1);
    for (const lease of leases) {
      expect(store.list()).toMatchObject([{ inUse: true }]);
      lease.release();
      lease.release();
    }
    expect(store.list()).toMatchObject([{ inUse: false, bytes: BYTES.length }]);
  });

  it("tells who waits for what, how far it is, and tells a late caller at once", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }));
    const store = await fixture.open();
    const leave = new AbortController();
    const halfway = Promise.withResolvers<void>();
    const early = failureOf(
      store.acquire("x", makeRef(), leave.signal, ({ receivedBytes }) => {
        if (receivedBytes === 50_000) halfway.resolve();
      }),
    );
    await halfway.promise;
    const seen: number[] = [];
    const late = failureOf(
      store.acquire("y", makeRef(), leave.signal, ({ receivedBytes }) => seen.push(receivedBytes)),
    );
    expect(seen).toEqual([50_000]);
    expect(store.downloads()).toEqual([
      { slug: "x", key: "/models/a.gguf", fraction: 0.25 },
      { slug: "y", key: "/models/a.gguf", fraction: 0.25 },
    ]);
    leave.abort(new Error("enough"));
    await Promise.all([early, late]);
    expect(store.downloads().flatMap(({ slug }) => slug)).toEqual([]);
  });

  it("goes on for the others when one caller aborts", async () => {
    await using fixture = await StoreFixture.make();
    const release = Promise.withResolvers<void>();
    fixture.server.on("/models/a.gguf", (request, response, served) => {
      void release.promise.then(() => file(BYTES)(request, response, served));
    });
    const store = await fixture.open();
    const leave = new AbortController();
    const leaving = failureOf(store.acquire("x", makeRef(), leave.signal));
    const staying = store.acquire("y", makeRef(), NEVER);
    await fixture.server.arrived(1);
    leave.abort(new Error("enough"));
    expect((await leaving).message).toBe("enough");
    release.resolve();
    expect((await staying).bytes).toBe(BYTES.length);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("stops when the last caller aborts, keeps the part, and a new caller goes on from it", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }), file(BYTES));
    const store = await fixture.open();
    const leave = new AbortController();
    const failures = ["x", "y"].map((slug) =>
      failureOf(
        store.acquire(slug, makeRef(), leave.signal, ({ receivedBytes }) => {
          if (receivedBytes === 50_000) leave.abort(new Error("enough"));
        }),
      ),
    );
    await Promise.all(failures);
    // The old download may still be closing its files: the new one has to wait for it.
    const lease = await store.acquire("z", makeRef(), NEVER);
    expect(await readFile(lease.path)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, "bytes=50000-"]);
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });

  it("lets a new download follow one that is being given up, and not run into it", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", () => undefined, file(BYTES));
    const store = await fixture.open();
    const leave = new AbortController();
    const failure = failureOf(store.acquire("x", makeRef(), leave.signal));
    await fixture.server.arrived(1);
    leave.abort(new Error("enough"));
    // The first has no byte and deletes its part now; the second makes one of the same name.
    const lease = await store.acquire("y", makeRef(), NEVER);
    expect((await failure).message).toBe("enough");
    expect(await readFile(lease.path)).toEqual(BYTES);
  });

  it("fetches again what was changed or deleted behind its back", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const { path } = await pull(store, ref);
    await truncate(path, 10);
    await pull(store, ref);
    expect(await readFile(path)).toEqual(BYTES);
    expect(fixture.server.requests).toHaveLength(2);
  });

  it("fails each caller with the download's failure, and a later call tries anew", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", status(404), file(BYTES));
    const store = await fixture.open();
    const failures = await Promise.all(["x", "y"].map((slug) => failureOf(store.acquire(slug, makeRef(), NEVER))));
    expect(failures.map(({ code }) => code)).toEqual(["model_unavailable", "model_unavailable"]);
    expect((await pull(store, makeRef())).bytes).toBe(BYTES.length);
  });

  it("refuses a bad address without a request", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    const error = await failureOf(store.acquire("x", makeRef({ url: "ftp://a.example/a" }), NEVER));
    expect(error.code).toBe("model_invalid");
    expect(store.downloads()).toEqual([]);
  });

  it("does nothing for a caller that has aborted already", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    const signal = AbortSignal.abort(new Error("enough"));
    expect((await failureOf(store.acquire("x", makeRef(), signal))).message).toBe("enough");
    expect(fixture.server.requests).toHaveLength(0);
  });
});

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
    expect(error.message).toContain(
      "needs 200000 bytes; this Island's disk budget is 250000 bytes, of which 100000 are in use",
    );
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
    expect((await failureOf(store.acquire("x", b, NEVER))).message).toContain("150000 reserved by downloads");
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

describe("ModelStore.close()", () => {
  it("resolves when every download has put its files away", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    const refs = Array.from({ length: 100 }, (_, index) => makeRef({ url: `/models/${index}.gguf` }));
    for (const { url } of refs) fixture.server.on(url, () => undefined);
    const failures = refs.map((ref) => failureOf(store.acquire("x", ref, NEVER)));
    await fixture.server.arrived(refs.length);
    await store.close();
    expect(await fixture.files()).toEqual(["index.json"]);
    await Promise.all(failures);
  });

  it("stops downloads, keeps their parts for the next store, and takes no more calls", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }), file(BYTES));
    const store = await fixture.open();
    const halfway = Promise.withResolvers<void>();
    const failure = failureOf(
      store.acquire("x", makeRef(), NEVER, ({ receivedBytes }) => {
        if (receivedBytes === 50_000) halfway.resolve();
      }),
    );
    await halfway.promise;
    await store.close();
    expect(await failure).toMatchObject({ code: "shutting_down", retryable: true });
    expect((await failureOf(store.acquire("x", makeRef(), NEVER))).message).toContain("shutting down");
    await expect.poll(() => fixture.server.openSockets()).toBe(0);

    const reopened = await fixture.open();
    expect(reopened.usage().usedBytes).toBe(50_000);
    expect(await readFile((await pull(reopened, makeRef())).path)).toEqual(BYTES);
    expect(fixture.server.requests[1]).toMatchObject({ range: "bytes=50000-", sentBytes: BYTES.length - 50_000 });
  });
});

describe("ModelStore.open()", () => {
  it("goes on after kill -9 from the bytes that were on disk", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", file(BYTES, { stallAfter: 50_000 }), file(BYTES));
    const ref = makeRef({ sha256: sha256(BYTES), sizeBytes: BYTES.length });
    const script = fileURLToPath(new URL("./crashing-store.ts", import.meta.url));
    const child = spawn(process.execPath, [
      script,
      fixture.directory,
      fixture.server.url,
      JSON.stringify(ref),
      "50000",
    ]);
    const exited = once(child, "exit");
    // It says so on stdout when it has the bytes, and holds the directory until it is gone.
    await once(child.stdout, "data");
    await expect(fixture.open()).rejects.toThrow("Another process uses");
    child.kill("SIGKILL");
    await exited;
    const store = await fixture.open();
    expect(await readFile((await pull(store, ref)).path)).toEqual(BYTES);
    expect(fixture.server.requests[1]).toMatchObject({ range: "bytes=50000-", sentBytes: BYTES.length - 50_000 });
  });

  it("keeps a second process or store out of the directory", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    await expect(fixture.open()).rejects.toThrow("Another process uses");
    await store.close();
    await fixture.open();
  });

  it("drops models whose length differs from the index, and files that it cannot place", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const { path } = await pull(store, ref);
    await store.close();
    await truncate(path, 10);
    const orphan = stemOf("orphan");
    for (const name of [
      `${orphan}.gguf`,
      `${orphan}.part`,
      `${stemOf("x")}.part.json`,
      `index.json.${randomUUID()}.tmp`,
    ]) {
      await writeFile(join(fixture.directory, name), "{}");
    }
    const reopened = await fixture.open();
    expect(reopened.list()).toEqual([]);
    expect(await fixture.files()).toEqual(["index.json"]);
  });

  it("leaves alone what a store does not make", async () => {
    await using fixture = await StoreFixture.make();
    await writeFile(join(fixture.directory, "notes.tmp"), "mine");
    await mkdir(join(fixture.directory, "photos"));
    await fixture.open();
    expect(await fixture.files()).toEqual(["index.json", "notes.tmp", "photos"]);
  });

  it("adopts a verified file that the index did not get to know before a crash", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const stem = join(fixture.directory, stemOf(ref.sha256 ?? ""));
    await writeFile(`${stem}.gguf`, BYTES);
    const facts = { key: ref.sha256, url: "u", etag: null, totalBytes: BYTES.length, hubSha256: null };
    await writeFile(`${stem}.part.json`, JSON.stringify(facts));
    const store = await fixture.open();
    await pull(store, ref);
    expect(fixture.server.requests).toHaveLength(0);
    expect(await fixture.files()).toEqual([`${stemOf(ref.sha256 ?? "")}.gguf`, "index.json"].sort());
  });

  it.each([
    "",
    "{",
    '{"version":2}',
    '{"version":1,"models":[{"key":"k","file":"../../etc/passwd","bytes":1,"lastUsedMs":1}]}',
  ])("starts empty over the damaged index %s", async (text) => {
    await using fixture = await StoreFixture.make();
    await writeFile(join(fixture.directory, "index.json"), text);
    expect((await fixture.open()).list()).toEqual([]);
  });

  it("makes files that only their owner can read", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const { path } = await pull(await fixture.open(), ref);
    expect((await stat(path)).mode & 0o077).toBe(0);
  });
});
