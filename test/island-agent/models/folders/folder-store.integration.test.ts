import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { file, sha256, status } from "../file-server.ts";
import { COMMIT, HubRepository } from "../hub-repository.ts";
import { failureOf, NEVER, StoreFixture } from "../store-fixture.ts";
import { cargo, CONFIG, contentOf, FILES, GRAPH, TOKENIZER, WHOLE_BYTES } from "./folder-fixture.ts";

describe("FolderStore.acquire() of a folder of the hub", () => {
  it("downloads only the files that the Cargo needs, into a directory with the hub's layout", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders, models } = await fixture.openFolders();
    const lease = await folders.acquire(cargo(), NEVER);
    expect(await contentOf(lease.path)).toEqual({
      "config.json": CONFIG,
      "tokenizer.json": TOKENIZER,
      "onnx/model.onnx": GRAPH,
    });
    expect(hub.fetched().sort()).toEqual(["config.json", "onnx/model.onnx", "tokenizer.json"]);
    expect(lease).toMatchObject({ key: "hf:owner/repo fp32", bytes: WHOLE_BYTES });
    expect(models.list().map(({ inUse }) => inUse)).toEqual([true, true, true]);
    lease.release();
    lease.release();
    expect(models.list().map(({ inUse }) => inUse)).toEqual([false, false, false]);
    await expect.poll(() => fixture.leases()).toEqual([]);
  });

  it("uses a folder on disk without a network, even after a restart, and keeps its version", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const first = await fixture.openFolders();
    (await first.folders.acquire(cargo(), NEVER)).release();
    await first.folders.close();
    await first.models.close();
    const requests = fixture.server.requests.length;
    // The repository has a new version.
    HubRepository.on(
      fixture.server,
      "owner/repo",
      { ...FILES, "config.json": Buffer.from("{}") },
      { commit: "f".repeat(40) },
    );
    const { folders } = await fixture.openFolders();
    expect(folders.bytesOnDisk(cargo())).toBe(WHOLE_BYTES);
    const lease = await folders.acquire(cargo(), NEVER);
    expect(await readFile(join(lease.path, "config.json"))).toEqual(CONFIG);
    expect(fixture.server.requests).toHaveLength(requests);
    lease.release();
  });

  it("reads a list of many pages only from the hub that the owner configured, not from one that a page names", async () => {
    await using fixture = await StoreFixture.make();
    const vocabularies = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [`vocab_${index}.txt`, Buffer.from(`word ${index}`)]),
    );
    const hub = HubRepository.on(fixture.server, "owner/repo", { ...FILES, ...vocabularies }, { pageSize: 7 });
    const { folders } = await fixture.openFolders();
    const lease = await folders.acquire(cargo(), NEVER);
    expect(Object.keys(await contentOf(lease.path))).toHaveLength(33);
    const pages = fixture.server.requests.filter(({ path }) => path.includes("/tree/"));
    expect(pages).toHaveLength(6);
    expect(hub.fetched()).toHaveLength(33);
    lease.release();
  });

  it("uses the commit of the address if there is one", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const { folders } = await fixture.openFolders();
    const model = { url: `hf:owner/repo#${COMMIT}`, sha256: null, sizeBytes: null };
    (await folders.acquire(cargo({ model }), NEVER)).release();
    expect(fixture.server.requests.filter(({ path }) => path.includes("/revision/"))).toEqual([]);
  });

  it("sends the hub's token to the hub, and reports a missing token", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES, { token: "hf_secret" });
    const { folders, models } = await fixture.openFolders();
    const failure = await failureOf(folders.acquire(cargo(), NEVER));
    expect(failure).toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("requires a hub token"),
    });
    await folders.close();
    await models.close();
    const known = await fixture.openFolders({ fetch: { hubToken: "hf_secret" } });
    (await known.folders.acquire(cargo(), NEVER)).release();
  });

  it.each([
    ["a repository that is not there", "hf:owner/none", "model_unavailable", /404/],
    ["an address that names none", "hf:owner/..", "model_invalid", /must name a repository/],
  ])("fails for %s", async (_what, url, code, message) => {
    await using fixture = await StoreFixture.make();
    const { folders } = await fixture.openFolders();
    const failure = await failureOf(folders.acquire(cargo({ model: { url, sha256: null, sizeBytes: null } }), NEVER));
    expect(failure).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(folders.list()).toEqual([]);
  });

  it.each([
    ["no JSON", "<html>"],
    ["other JSON", '{"error":"x"}'],
    ["a size below zero", '[{"type":"file","path":"config.json","size":-1}]'],
  ])("fails for a list that is %s", async (_what, body) => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    fixture.server.on(`/api/models/owner/repo/tree/${COMMIT}`, (_request, response) => response.end(body));
    const { folders } = await fixture.openFolders();
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({
      code: "model_unavailable",
      message: expect.stringContaining("did not return a list of files"),
    });
  });

  it("writes nothing outside its directory for any names in the list", async () => {
    await using fixture = await StoreFixture.make();
    for (const path of ["..\\..\\evil.json", "\u001b[2Jevil.json", "C:evil.json"]) {
      HubRepository.on(fixture.server, "owner/repo", { ...FILES, [path]: CONFIG });
      const { folders, models } = await fixture.openFolders();
      expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({ code: "model_invalid" });
      expect(models.list()).toEqual([]);
      await folders.close();
      await models.close();
    }
  });

  it("refuses more than 2,000 files", async () => {
    await using fixture = await StoreFixture.make();
    const entries = Array.from({ length: 2_001 }, (_, index) => ({ type: "file", path: `${index}.json`, size: 1 }));
    const graph = { type: "file", path: "onnx/model.onnx", size: 1 };
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const tree = `/api/models/owner/repo/tree/${COMMIT}`;
    fixture.server.on(tree, (_request, response) => response.end(JSON.stringify([graph, ...entries])));
    const { folders } = await fixture.openFolders();
    expect((await failureOf(folders.acquire(cargo(), NEVER))).message).toContain("more than 2000 files");
  });

  it("retries an interrupted or missing list, and fails after several attempts", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    const commit = (_request: unknown, response: { end: (text: string) => void }) =>
      response.end(`{"sha":"${COMMIT}"}`);
    const revision = "/api/models/owner/repo/revision/main";
    fixture.server.onEach(
      revision,
      status(503),
      file(CONFIG, { cutAfter: 3 }),
      file(CONFIG, { stallAfter: 3 }),
      commit,
    );
    const { folders, models } = await fixture.openFolders({ fetch: { stallMs: 200 } });
    (await folders.acquire(cargo(), NEVER)).release();
    expect(fixture.server.requests.filter(({ path }) => path === revision)).toHaveLength(4);
    await models.prune();
    await folders.prune();
    fixture.server.on(revision, status(503));
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({
      code: "model_unavailable",
      retryable: true,
      message: expect.stringContaining("after 5 attempts"),
    });
  });

  it("resumes an interrupted file, and names a file that fails", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    fixture.server.onEach(hub.bytesAt("onnx/model.onnx"), file(GRAPH, { cutAfter: 70_000 }), file(GRAPH));
    const { folders } = await fixture.openFolders();
    const lease = await folders.acquire(cargo(), NEVER);
    expect(await readFile(join(lease.path, "onnx/model.onnx"))).toEqual(GRAPH);
    const ranges = fixture.server.requests.filter(({ path }) => path === hub.bytesAt("onnx/model.onnx"));
    expect(ranges.map(({ range }) => range)).toEqual([null, "bytes=70000-"]);
    lease.release();
    hub.serve("onnx/model_quantized.onnx", status(404));
    expect(await failureOf(folders.acquire(cargo({ slug: "small", weights: "q8" }), NEVER))).toMatchObject({
      code: "model_unavailable",
      message: expect.stringMatching(/^onnx\/model_quantized\.onnx: .* 404/),
    });
  });

  it.each([
    ["hash", { oid: sha256(CONFIG) }],
    ["size", { size: GRAPH.length + 1 }],
  ])("refuses a file whose %s differs from the list, and releases the folder", async (_what, lie) => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES, {
      lie: (path) => (path === "onnx/model.onnx" ? lie : {}),
    });
    // This test does not cover the facts that the hub sends with the bytes.
    fixture.server.on(hub.fileAt("onnx/model.onnx"), file(GRAPH));
    const { folders, models } = await fixture.openFolders();
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({
      code: "model_hash_mismatch",
      message: expect.stringMatching(/^onnx\/model\.onnx: /),
    });
    // A file that was completed at the same moment is leased until this is recorded.
    await expect.poll(() => models.list().filter(({ inUse }) => inUse)).toEqual([]);
    expect(folders.bytesOnDisk(cargo())).toBeNull();
  });

  it("keeps its files when it is aborted, and resumes from there", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    const bytes = hub.bytesAt("onnx/model.onnx");
    fixture.server.onEach(bytes, file(GRAPH, { stallAfter: 80_000 }), file(GRAPH));
    const { folders, models } = await fixture.openFolders();
    const leave = new AbortController();
    const failure = await failureOf(
      folders.acquire(cargo(), leave.signal, ({ receivedBytes, totalBytes }) => {
        expect(totalBytes).toBe(WHOLE_BYTES);
        const areOthersWhole = models.list().length === 2;
        if (areOthersWhole && receivedBytes === WHOLE_BYTES - GRAPH.length + 80_000) leave.abort(new Error("enough"));
      }),
    );
    expect(failure.message).toBe("enough");
    expect(folders.downloads()).toEqual([]);
    await expect.poll(() => models.list().map(({ inUse }) => inUse)).toEqual([false, false]);
    (await folders.acquire(cargo(), NEVER)).release();
    expect(fixture.server.requests.filter(({ path }) => path === bytes).map(({ range }) => range)).toEqual([
      null,
      "bytes=80000-",
    ]);
    expect(hub.fetched().filter((path) => path === "config.json")).toHaveLength(1);
  });

  it("reports the progress of all files together", async () => {
    await using fixture = await StoreFixture.make();
    const hub = HubRepository.on(fixture.server, "owner/repo", FILES);
    fixture.server.on(hub.bytesAt("onnx/model.onnx"), file(GRAPH, { stallAfter: 80_000 }));
    const { folders } = await fixture.openFolders();
    const leave = new AbortController();
    const received = Promise.withResolvers<void>();
    const failure = failureOf(
      folders.acquire(cargo(), leave.signal, ({ receivedBytes }) => {
        if (receivedBytes === WHOLE_BYTES - GRAPH.length + 80_000) received.resolve();
      }),
    );
    expect(folders.downloads()).toEqual([
      { slug: "sentiment", key: "hf:owner/repo fp32", receivedBytes: 0, totalBytes: null },
    ]);
    await received.promise;
    const progress = { receivedBytes: WHOLE_BYTES - GRAPH.length + 80_000, totalBytes: WHOLE_BYTES };
    expect(folders.downloads()).toEqual([{ slug: "sentiment", key: "hf:owner/repo fp32", ...progress }]);
    leave.abort(new Error("enough"));
    await failure;
  });

  it("rejects with the reason of close", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", FILES);
    fixture.server.on(`/api/models/owner/repo/tree/${COMMIT}`, () => undefined);
    const { folders } = await fixture.openFolders();
    const failure = failureOf(folders.acquire(cargo(), NEVER));
    await fixture.server.arrived(2);
    await folders.close();
    expect(await failure).toMatchObject({ code: "shutting_down" });
    expect(await failureOf(folders.acquire(cargo(), NEVER))).toMatchObject({ code: "shutting_down" });
  });

  it("stores an empty file", async () => {
    await using fixture = await StoreFixture.make();
    HubRepository.on(fixture.server, "owner/repo", { ...FILES, "added_tokens.json": Buffer.alloc(0) });
    const { folders } = await fixture.openFolders();
    const lease = await folders.acquire(cargo(), NEVER);
    expect((await stat(join(lease.path, "added_tokens.json"))).size).toBe(0);
    lease.release();
  });
});
