import { readFile, truncate } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { stemOf } from "../../../../island-agent/models/store/store-recovery.ts";
import { file, status } from "../file-server.ts";
import { failureOf, makeRef, NEVER, StoreFixture } from "../store-fixture.ts";
import { BYTES, pull, serve } from "./store-calls.ts";

describe("ModelStore.acquire()", () => {
  it("downloads a model once and then uses it from disk, even after a restart", async () => {
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

  it("names files by the key's hash, for any address", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/models/x%2F..%2F..%2Fevil.gguf", file(BYTES));
    const store = await fixture.open();
    const ref = makeRef({ url: "/models/x%2F..%2F..%2Fevil.gguf" });
    await pull(store, ref);
    expect(await fixture.files()).toEqual([`${stemOf(ref.url)}.gguf`, "index.json"].sort());
  });

  it("downloads once for many callers, and gives each a lease", async () => {
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

  it("reports waiting Cargos and progress, to a late caller immediately", async () => {
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
      { slug: "x", key: "/models/a.gguf", receivedBytes: 50_000, totalBytes: 200_000 },
      { slug: "y", key: "/models/a.gguf", receivedBytes: 50_000, totalBytes: 200_000 },
    ]);
    leave.abort(new Error("enough"));
    await Promise.all([early, late]);
    expect(store.downloads().flatMap(({ slug }) => slug)).toEqual([]);
  });

  it("continues for the others when one caller aborts", async () => {
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

  it("stops when the last caller aborts, keeps the part, and resumes from it for a new caller", async () => {
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
    // The old download may still be closing its files, so the new one must wait for it.
    const lease = await store.acquire("z", makeRef(), NEVER);
    expect(await readFile(lease.path)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, "bytes=50000-"]);
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });

  it("starts a new download only after a stopped one has ended", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/models/a.gguf", () => undefined, file(BYTES));
    const store = await fixture.open();
    const leave = new AbortController();
    const failure = failureOf(store.acquire("x", makeRef(), leave.signal));
    await fixture.server.arrived(1);
    leave.abort(new Error("enough"));
    // The first download has no byte and deletes its part now. The second one creates a part of the same name.
    const lease = await store.acquire("y", makeRef(), NEVER);
    expect((await failure).message).toBe("enough");
    expect(await readFile(lease.path)).toEqual(BYTES);
  });

  it("downloads a model again whose file was changed or deleted externally", async () => {
    await using fixture = await StoreFixture.make();
    const ref = serve(fixture, "a", BYTES);
    const store = await fixture.open();
    const { path } = await pull(store, ref);
    await truncate(path, 10);
    await pull(store, ref);
    expect(await readFile(path)).toEqual(BYTES);
    expect(fixture.server.requests).toHaveLength(2);
  });

  it("fails each caller with the download's failure, and downloads again at a later call", async () => {
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

  it("does nothing for a caller that has already aborted", async () => {
    await using fixture = await StoreFixture.make();
    const store = await fixture.open();
    const signal = AbortSignal.abort(new Error("enough"));
    expect((await failureOf(store.acquire("x", makeRef(), signal))).message).toBe("enough");
    expect(fixture.server.requests).toHaveLength(0);
  });
});

describe("ModelStore.close()", () => {
  it("resolves when all downloads have closed their files", async () => {
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

  it("stops downloads, keeps their parts for the next store, and accepts no more calls", async () => {
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
