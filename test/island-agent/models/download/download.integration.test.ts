import { describe, expect, it } from "vitest";
import type { DownloadProgress } from "../../../../island-agent/models/download/transfer.ts";
import { file, makeBytes, sha256, status } from "../file-server.ts";
import { failureOf, StoreFixture } from "../store-fixture.ts";
import { BYTES, PATH, done, runDownload } from "./run-download.ts";

describe("downloadModel()", () => {
  it("downloads a file, checks its hash and reports each step", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES));
    const seen: DownloadProgress[] = [];
    const expected = { sha256: sha256(BYTES), bytes: BYTES.length };
    expect(await runDownload(fixture, { expected, onProgress: (progress) => seen.push(progress) })).toBe(BYTES.length);
    expect(await done(fixture)).toEqual(BYTES);
    expect(seen[0]).toEqual({ receivedBytes: 0, totalBytes: BYTES.length });
    expect(seen.at(-1)).toEqual({ receivedBytes: BYTES.length, totalBytes: BYTES.length });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("accepts a chunked body without a length and reports the total as unknown", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { chunked: true }));
    const totals = new Set<number | null>();
    await runDownload(fixture, { onProgress: ({ totalBytes }) => totals.add(totalBytes) });
    expect(await done(fixture)).toEqual(BYTES);
    expect([...totals]).toEqual([null]);
  });

  it("resumes a truncated body by Range and If-Range, so that each byte is sent once", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES, { cutAfter: 60_000 }), file(BYTES));
    await runDownload(fixture);
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range, ifRange }) => [range, ifRange])).toEqual([
      [null, null],
      ["bytes=70000-", '"v1"'],
      ["bytes=130000-", '"v1"'],
    ]);
    expect(fixture.server.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0)).toBe(BYTES.length);
  });

  it("restarts when the file has changed in between", async () => {
    await using fixture = await StoreFixture.make();
    const changed = makeBytes(150_000, "changed");
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(changed, { etag: '"v2"' }));
    expect(await runDownload(fixture)).toBe(changed.length);
    expect(await done(fixture)).toEqual(changed);
  });

  it("restarts when the server ignores the range", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES, { ignoreRange: true }));
    await runDownload(fixture, { expected: { sha256: sha256(BYTES) } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests[1]).toMatchObject({ range: "bytes=70000-", sentBytes: BYTES.length });
  });

  it.each([
    ["a weak etag", 'W/"v1"'],
    ["no etag", null],
  ])("resumes a file with %s only if its hash will be checked", async (_title, etag) => {
    await using fixture = await StoreFixture.make();
    const cut = file(BYTES, { cutAfter: 70_000, etag });
    fixture.server.onEach(PATH, cut, file(BYTES, { etag }), cut, file(BYTES, { etag }));
    await runDownload(fixture);
    await runDownload(fixture, { expected: { sha256: sha256(BYTES) } });
    expect(fixture.server.requests.map(({ range, ifRange }) => [range, ifRange])).toEqual([
      [null, null],
      [null, null],
      [null, null],
      ["bytes=70000-", null],
    ]);
  });

  it("does not mix versions when a server resumes another file without an etag", async () => {
    await using fixture = await StoreFixture.make();
    const longer = makeBytes(250_000, "longer");
    const cut = file(BYTES, { cutAfter: 70_000, etag: null });
    fixture.server.onEach(PATH, cut, file(longer, { etag: null }), file(longer, { etag: null }));
    await runDownload(fixture, { expected: { sha256: sha256(longer) } });
    expect(await done(fixture)).toEqual(longer);
    // No bytes of the first version are kept after the mismatch.
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, "bytes=70000-", null]);
  });

  it("treats 416 at the end as complete", async () => {
    await using fixture = await StoreFixture.make();
    // No length was announced, so the store does not know that the part is complete.
    const broken = file(BYTES, { chunked: true, cutAfter: BYTES.length });
    fixture.server.onEach(PATH, broken, file(BYTES));
    await runDownload(fixture);
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range, sentBytes }) => [range, sentBytes])).toEqual([
      [null, BYTES.length],
      [`bytes=${BYTES.length}-`, 0],
    ]);
  });

  it("restarts after 416 for a file that became shorter", async () => {
    await using fixture = await StoreFixture.make();
    const shorter = makeBytes(50_000, "shorter");
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), status(416), file(shorter, { etag: '"v2"' }));
    await runDownload(fixture);
    expect(await done(fixture)).toEqual(shorter);
  });

  it("retries after 500 and 429, not before Retry-After", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, status(500), status(429, { "retry-after": "7" }), status(503), file(BYTES));
    await runDownload(fixture, { fetch: { random: () => 1 } });
    expect(fixture.clock.sleptMs).toEqual([1_000, 7_000, 4_000]);
  });

  it("fails after the policy's number of attempts, keeping the part and naming the cause", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { cutAfter: 70_000, ignoreRange: true }));
    const error = await failureOf(runDownload(fixture, { fetch: { maxAttempts: 3 } }));
    expect(error).toMatchObject({ code: "model_unavailable", retryable: true });
    expect(error.message).toMatch(/could not be downloaded after 3 attempts/);
    expect(fixture.server.requests).toHaveLength(3);
    expect(await fixture.files()).toEqual(["stem.part", "stem.part.json"]);
  });

  it("resets the attempts after a megabyte of progress", async () => {
    await using fixture = await StoreFixture.make();
    const big = makeBytes(5_500_000);
    fixture.server.on(PATH, (request, response, served) => {
      const left = big.length - Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      file(big, left > 1_100_000 ? { cutAfter: 1_100_000 } : {})(request, response, served);
    });
    await runDownload(fixture, { fetch: { maxAttempts: 2 } });
    expect(fixture.server.requests).toHaveLength(5);
    expect(await done(fixture)).toEqual(big);
  });

  it("retries a refused connection", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, (_request, response) => response.destroy(), file(BYTES));
    await runDownload(fixture);
    expect(await done(fixture)).toEqual(BYTES);
  });

  it("aborts a transfer that stalls in the body or before its head, and resumes", async () => {
    await using fixture = await StoreFixture.make();
    const silent = (): void => undefined;
    fixture.server.onEach(PATH, silent, file(BYTES, { stallAfter: 70_000 }), file(BYTES));
    await runDownload(fixture, { fetch: { stallMs: 600 } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, null, "bytes=70000-"]);
  });

  it("does not treat a slow transfer as stalled", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, (_request, response) => {
      response.writeHead(200, { "content-length": "8" });
      let sent = 0;
      const timer = setInterval(() => {
        response.write("x");
        sent += 1;
        if (sent === 8) {
          clearInterval(timer);
          response.end();
        }
      }, 200);
    });
    expect(await runDownload(fixture, { fetch: { stallMs: 1_000 } })).toBe(8);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it.each([
    [401, "requires a hub token"],
    [403, "requires a hub token"],
    [404, ": no such file"],
    [410, ": no such file"],
    [418, "responded with status 418"],
  ])("does not retry after %i and reports: %s", async (code, text) => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, status(code));
    const error = await failureOf(runDownload(fixture));
    expect(error).toMatchObject({ code: "model_unavailable", retryable: true });
    expect(error.message).toContain(text);
    expect(fixture.server.requests).toHaveLength(1);
    expect(await fixture.files()).toEqual([]);
  });

  it("does not wait for the body of an error", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, (_request, response) => {
      response.writeHead(404, { "content-length": "1000" }).write("sorry");
    });
    await failureOf(runDownload(fixture));
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });
});
