import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { diskFailure, PartFile } from "../../../../island-agent/models/download/part-file.ts";
import type { DownloadProgress } from "../../../../island-agent/models/download/transfer.ts";
import { file, makeBytes, redirect, sha256, status } from "../file-server.ts";
import { failureOf, makeRef, StoreFixture } from "../store-fixture.ts";
import { BYTES, PATH, done, runDownload } from "./run-download.ts";

describe("downloadModel()", () => {
  it("sends no request for a complete part", async () => {
    await using fixture = await StoreFixture.make();
    const facts = {
      key: "k",
      url: `${fixture.server.url}${PATH}`,
      etag: null,
      totalBytes: BYTES.length,
      hubSha256: null,
    };
    await writeFile(join(fixture.directory, "stem.part"), BYTES);
    await writeFile(join(fixture.directory, "stem.part.json"), JSON.stringify(facts));
    expect(await runDownload(fixture, { expected: { sha256: sha256(BYTES) } })).toBe(BYTES.length);
    expect(fixture.server.requests).toHaveLength(0);
  });

  it("deletes a part with a wrong hash", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES));
    const error = await failureOf(runDownload(fixture, { expected: { sha256: sha256(Buffer.from("other")) } }));
    expect(error).toMatchObject({ code: "model_hash_mismatch", retryable: true });
    expect(error.message).toContain(sha256(BYTES));
    expect(await fixture.files()).toEqual([]);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("hashes the part of an earlier process, and detects damage", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES));
    await failureOf(runDownload(fixture, { fetch: { maxAttempts: 1 } }));
    await writeFile(join(fixture.directory, "stem.part"), makeBytes(70_000, "damaged"));
    const error = await failureOf(runDownload(fixture, { expected: { sha256: sha256(BYTES) } }));
    expect(error.code).toBe("model_hash_mismatch");
    expect(await fixture.files()).toEqual([]);
  });

  it("refuses a file with a different announced size before its body, and keeps the part", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(
      PATH,
      file(BYTES, { cutAfter: 70_000 }),
      file(Buffer.from("<html>login</html>"), { ignoreRange: true }),
    );
    const expected = { bytes: BYTES.length };
    const error = await failureOf(runDownload(fixture, { expected }));
    expect(error).toMatchObject({ code: "model_hash_mismatch", retryable: true });
    expect(error.message).toContain(`has 18 bytes instead of the ${BYTES.length} that the Cargo specifies`);
    expect(await readFile(join(fixture.directory, "stem.part"))).toEqual(BYTES.subarray(0, 70_000));
  });

  it("stops a body without a length at the Cargo's size, and writes no bytes beyond it", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(makeBytes(3_000_000), { chunked: true }));
    let most = 0;
    const onProgress = ({ receivedBytes }: DownloadProgress): void => {
      most = Math.max(most, receivedBytes);
    };
    const error = await failureOf(runDownload(fixture, { expected: { bytes: 1_000_000 }, onProgress }));
    expect(error).toMatchObject({
      code: "model_hash_mismatch",
      message: "The model is longer than the expected 1000000 bytes",
    });
    expect(most).toBeLessThanOrEqual(1_000_000);
    expect(await fixture.files()).toEqual([]);
  });

  it("treats a shorter body without a length as truncated", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES.subarray(0, 70_000), { chunked: true }), file(BYTES));
    await runDownload(fixture, { expected: { bytes: BYTES.length } });
    expect(await done(fixture)).toEqual(BYTES);
  });

  it("reserves space before it writes, and deletes a part that outgrows it", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(makeBytes(3_000_000), { chunked: true }));
    const reserve = async (bytes: number): Promise<void> => {
      if (bytes > 1_000_000) throw new Error("no space");
    };
    expect((await failureOf(runDownload(fixture, { reserve }))).message).toBe("no space");
    expect(await fixture.files()).toEqual([]);
  });

  it("reports a full disk and deletes the part, so that a later download starts from 0", async () => {
    await using fixture = await StoreFixture.make();
    const bytes = makeBytes(3_000_000);
    fixture.server.on(PATH, file(bytes));
    const full = await failureOf(
      runDownload(fixture, {}, async (stem, key, signal) => {
        const part = await PartFile.open(stem, key, signal);
        const append = part.append.bind(part);
        part.append = (chunk) =>
          part.bytes + chunk.length > 1_000_000
            ? Promise.reject(diskFailure(Object.assign(new Error("write"), { code: "ENOSPC" })))
            : append(chunk);
        return part;
      }),
    );
    expect(full).toMatchObject({ code: "disk_full", retryable: true });
    expect(full.message).toContain("disk of the model store is full");
    expect(await fixture.files()).toEqual([]);
    await runDownload(fixture);
    expect(await done(fixture)).toEqual(bytes);
    expect(fixture.server.requests[1]).toMatchObject({ range: null, sentBytes: bytes.length });
  });

  it("stops at an abort with its reason, closes the socket and keeps the part", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { stallAfter: 70_000 }));
    const controller = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ receivedBytes }: DownloadProgress): void => {
      if (receivedBytes === 70_000) controller.abort(reason);
    };
    expect(await failureOf(runDownload(fixture, { signal: controller.signal, onProgress }))).toBe(reason);
    expect(await readFile(join(fixture.directory, "stem.part"))).toEqual(BYTES.subarray(0, 70_000));
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });

  it("stops at an abort before the server has responded", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, () => undefined);
    const controller = new AbortController();
    const failure = failureOf(runDownload(fixture, { signal: controller.signal }));
    await fixture.server.arrived(1);
    controller.abort(new Error("enough"));
    expect((await failure).message).toBe("enough");
    expect(await fixture.files()).toEqual([]);
  });
});

describe("downloadModel() from the hub", () => {
  const resolved = "/o/r/resolve/main/r-Q4_K_M.gguf";
  const manifest = (name: string): Buffer => Buffer.from(JSON.stringify({ ggufFile: { rfilename: name } }));

  it("asks the hub, as llama.cpp does, which file has the quantization", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/v2/o/r/manifests/Q4_K_M", file(manifest("r-Q4_K_M.gguf")));
    fixture.server.on(resolved, file(BYTES));
    await runDownload(fixture, { url: "hf:o/r:Q4_K_M", fetch: { hubToken: "hf_secret" } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests).toMatchObject([
      { userAgent: "llama-cpp", authorization: "Bearer hf_secret" },
      { path: resolved, authorization: "Bearer hf_secret" },
    ]);
  });

  it("requests the tag latest for an address without a tag, and retries when the hub fails", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/v2/o/r/manifests/latest", status(502), file(manifest("r-Q4_K_M.gguf")));
    fixture.server.on(resolved, file(BYTES));
    expect(await runDownload(fixture, { url: "hf:o/r" })).toBe(BYTES.length);
  });

  it.each([
    ["does not name a file", Buffer.from("{}"), "names no GGUF file"],
    ["is not JSON", Buffer.from("<html>"), "names no GGUF file"],
    ["names a split file", manifest("r-00001-of-00002.gguf"), "split"],
    ["is endless", makeBytes(1_100_000), "longer than 1000000 bytes"],
  ])("fails when the manifest %s", async (_title, body, text) => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/v2/o/r/manifests/Q8_0", file(body));
    const error = await failureOf(runDownload(fixture, { url: "hf:o/r:Q8_0" }));
    expect(error.message).toContain(text);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("checks the hash and size that the hub sends with its redirect", async () => {
    await using fixture = await StoreFixture.make();
    const linked = { "x-linked-etag": `"${sha256(Buffer.from("other"))}"`, "x-linked-size": String(BYTES.length) };
    fixture.server.on("/o/r/resolve/main/a.gguf", redirect("/cdn/a", 302, linked));
    fixture.server.on("/cdn/a", file(BYTES, { chunked: true }));
    const totals = new Set<number | null>();
    const failure = runDownload(fixture, {
      url: "hf:o/r/a.gguf",
      onProgress: ({ totalBytes }) => totals.add(totalBytes),
    });
    expect((await failureOf(failure)).code).toBe("model_hash_mismatch");
    expect([...totals]).toEqual([BYTES.length]);
  });

  it("ignores a hub hash that another origin sends", async () => {
    await using fixture = await StoreFixture.make();
    await using coordinator = await StoreFixture.make();
    coordinator.server.on(PATH, file(BYTES, { headers: { "x-linked-etag": `"${sha256(Buffer.from("other"))}"` } }));
    const fetch = { coordinatorUrl: coordinator.server.url };
    expect(await runDownload(fixture, { url: makeRef().url, fetch })).toBe(BYTES.length);
  });
});
