import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { downloadModel, type Download } from "../../../../island-agent/models/download/download.ts";
import { resolveFetchPolicy, type FetchOptions } from "../../../../island-agent/models/download/fetch-policy.ts";
import { parseModelSource } from "../../../../island-agent/models/download/model-source.ts";
import { diskFailure, PartFile } from "../../../../island-agent/models/download/part-file.ts";
import type { DownloadProgress } from "../../../../island-agent/models/download/transfer.ts";
import { file, makeBytes, redirect, sha256, status } from "../file-server.ts";
import { failureOf, makeRef, NEVER, StoreFixture } from "../store-fixture.ts";

const BYTES = makeBytes(200_000);
const PATH = "/models/a.gguf";

/** Downloads `url` into the fixture's directory; `expected` and options as a test needs them. */
function run(
  fixture: StoreFixture,
  options: {
    url?: string;
    expected?: Partial<Download["expected"]>;
    fetch?: FetchOptions;
    signal?: AbortSignal;
  } & Pick<Partial<Download>, "reserve" | "onProgress"> = {},
  openPart?: (stem: string, key: string, signal: AbortSignal) => Promise<PartFile>,
): Promise<number> {
  const url = fixture.server.url;
  const policy = resolveFetchPolicy({ coordinatorUrl: url, hubEndpoint: url, stallMs: 20_000, ...options.fetch });
  const download: Download = {
    key: "k",
    source: parseModelSource(options.url ?? PATH, policy),
    expected: { sha256: null, bytes: null, ...options.expected },
    directory: fixture.directory,
    stem: "stem",
    fileName: "done.gguf",
    reserve: options.reserve ?? (() => Promise.resolve()),
    onProgress: options.onProgress ?? (() => undefined),
  };
  return downloadModel(download, { policy, clock: fixture.clock }, options.signal ?? NEVER, openPart);
}

const done = (fixture: StoreFixture): Promise<Buffer> => readFile(join(fixture.directory, "done.gguf"));

describe("downloadModel()", () => {
  it("brings a file to disk, checks its hash and reports each step", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES));
    const seen: DownloadProgress[] = [];
    const expected = { sha256: sha256(BYTES), bytes: BYTES.length };
    expect(await run(fixture, { expected, onProgress: (progress) => seen.push(progress) })).toBe(BYTES.length);
    expect(await done(fixture)).toEqual(BYTES);
    expect(seen[0]).toEqual({ receivedBytes: 0, totalBytes: BYTES.length });
    expect(seen.at(-1)).toEqual({ receivedBytes: BYTES.length, totalBytes: BYTES.length });
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("takes a chunked body without a length and reports the total as unknown", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { chunked: true }));
    const totals = new Set<number | null>();
    await run(fixture, { onProgress: ({ totalBytes }) => totals.add(totalBytes) });
    expect(await done(fixture)).toEqual(BYTES);
    expect([...totals]).toEqual([null]);
  });

  it("resumes a truncated body by Range and If-Range, so that each byte is sent once", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES, { cutAfter: 60_000 }), file(BYTES));
    await run(fixture);
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range, ifRange }) => [range, ifRange])).toEqual([
      [null, null],
      ["bytes=70000-", '"v1"'],
      ["bytes=130000-", '"v1"'],
    ]);
    expect(fixture.server.requests.reduce((sum, { sentBytes }) => sum + sentBytes, 0)).toBe(BYTES.length);
  });

  it("starts again when the file has changed in between", async () => {
    await using fixture = await StoreFixture.make();
    const changed = makeBytes(150_000, "changed");
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(changed, { etag: '"v2"' }));
    expect(await run(fixture)).toBe(changed.length);
    expect(await done(fixture)).toEqual(changed);
  });

  it("starts again when the server ignores the range", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES, { ignoreRange: true }));
    await run(fixture, { expected: { sha256: sha256(BYTES) } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests[1]).toMatchObject({ range: "bytes=70000-", sentBytes: BYTES.length });
  });

  it.each([
    ["a weak etag", 'W/"v1"'],
    ["no etag", null],
  ])("adds to bytes of a file with %s only when the hash will be checked", async (_title, etag) => {
    await using fixture = await StoreFixture.make();
    const cut = file(BYTES, { cutAfter: 70_000, etag });
    fixture.server.onEach(PATH, cut, file(BYTES, { etag }), cut, file(BYTES, { etag }));
    await run(fixture);
    await run(fixture, { expected: { sha256: sha256(BYTES) } });
    expect(fixture.server.requests.map(({ range, ifRange }) => [range, ifRange])).toEqual([
      [null, null],
      [null, null],
      [null, null],
      ["bytes=70000-", null],
    ]);
  });

  it("does not mix versions when a server resumes another file under no etag", async () => {
    await using fixture = await StoreFixture.make();
    const longer = makeBytes(250_000, "longer");
    const cut = file(BYTES, { cutAfter: 70_000, etag: null });
    fixture.server.onEach(PATH, cut, file(longer, { etag: null }), file(longer, { etag: null }));
    await run(fixture, { expected: { sha256: sha256(longer) } });
    expect(await done(fixture)).toEqual(longer);
    // After the surprise nothing is kept of the first version.
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, "bytes=70000-", null]);
  });

  it("takes 416 at the very end as all there", async () => {
    await using fixture = await StoreFixture.make();
    // No length was announced, so the part cannot know that it is complete.
    const broken = file(BYTES, { chunked: true, cutAfter: BYTES.length });
    fixture.server.onEach(PATH, broken, file(BYTES));
    await run(fixture);
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range, sentBytes }) => [range, sentBytes])).toEqual([
      [null, BYTES.length],
      [`bytes=${BYTES.length}-`, 0],
    ]);
  });

  it("starts again after 416 for a file that became shorter", async () => {
    await using fixture = await StoreFixture.make();
    const shorter = makeBytes(50_000, "shorter");
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), status(416), file(shorter, { etag: '"v2"' }));
    await run(fixture);
    expect(await done(fixture)).toEqual(shorter);
  });

  it("tries 500 and 429 again, no sooner than Retry-After says", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, status(500), status(429, { "retry-after": "7" }), status(503), file(BYTES));
    await run(fixture, { fetch: { random: () => 0 } });
    expect(fixture.clock.sleptMs).toEqual([1_000, 7_000, 4_000]);
  });

  it("gives up after the tries that the policy allows, keeping the part and naming the cause", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { cutAfter: 70_000, ignoreRange: true }));
    const error = await failureOf(run(fixture, { fetch: { tries: 3 } }));
    expect(error).toMatchObject({ code: "model_unavailable", retryable: true });
    expect(error.message).toMatch(/could not be downloaded in 3 tries/);
    expect(fixture.server.requests).toHaveLength(3);
    expect(await fixture.files()).toEqual(["stem.part", "stem.part.json"]);
  });

  it("counts tries anew after a megabyte of progress", async () => {
    await using fixture = await StoreFixture.make();
    const big = makeBytes(5_500_000);
    fixture.server.on(PATH, (request, response, served) => {
      const left = big.length - Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
      file(big, left > 1_100_000 ? { cutAfter: 1_100_000 } : {})(request, response, served);
    });
    await run(fixture, { fetch: { tries: 2 } });
    expect(fixture.server.requests).toHaveLength(5);
    expect(await done(fixture)).toEqual(big);
  });

  it("tries a refused connection again", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, (_request, response) => response.destroy(), file(BYTES));
    await run(fixture);
    expect(await done(fixture)).toEqual(BYTES);
  });

  it("gives up a transfer that stalls in the body or before its head, and resumes", async () => {
    await using fixture = await StoreFixture.make();
    const silent = (): void => undefined;
    fixture.server.onEach(PATH, silent, file(BYTES, { stallAfter: 70_000 }), file(BYTES));
    await run(fixture, { fetch: { stallMs: 600 } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests.map(({ range }) => range)).toEqual([null, null, "bytes=70000-"]);
  });

  it("does not take a slow transfer for a stalled one", async () => {
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
    expect(await run(fixture, { fetch: { stallMs: 1_000 } })).toBe(8);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it.each([
    [401, "the hub wants a token"],
    [403, "the hub wants a token"],
    [404, "there is no such file"],
    [410, "there is no such file"],
    [418, "answered 418"],
  ])("does not try %i again and says: %s", async (code, text) => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, status(code));
    const error = await failureOf(run(fixture));
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
    await failureOf(run(fixture));
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });

  it("asks nobody for a part that is complete", async () => {
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
    expect(await run(fixture, { expected: { sha256: sha256(BYTES) } })).toBe(BYTES.length);
    expect(fixture.server.requests).toHaveLength(0);
  });

  it("deletes the part of a wrong hash", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES));
    const error = await failureOf(run(fixture, { expected: { sha256: sha256(Buffer.from("other")) } }));
    expect(error).toMatchObject({ code: "model_hash_mismatch", retryable: true });
    expect(error.message).toContain(sha256(BYTES));
    expect(await fixture.files()).toEqual([]);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("hashes what an earlier process left, so that a damaged part is found out", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES, { cutAfter: 70_000 }), file(BYTES));
    await failureOf(run(fixture, { fetch: { tries: 1 } }));
    await writeFile(join(fixture.directory, "stem.part"), makeBytes(70_000, "damaged"));
    const error = await failureOf(run(fixture, { expected: { sha256: sha256(BYTES) } }));
    expect(error.code).toBe("model_hash_mismatch");
    expect(await fixture.files()).toEqual([]);
  });

  it("refuses a file of another announced size before its body, and keeps the part", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(
      PATH,
      file(BYTES, { cutAfter: 70_000 }),
      file(Buffer.from("<html>login</html>"), { ignoreRange: true }),
    );
    const expected = { bytes: BYTES.length };
    const error = await failureOf(run(fixture, { expected }));
    expect(error).toMatchObject({ code: "model_hash_mismatch", retryable: true });
    expect(error.message).toContain(`has 18 bytes; the Cargo says ${BYTES.length}`);
    expect(await readFile(join(fixture.directory, "stem.part"))).toEqual(BYTES.subarray(0, 70_000));
  });

  it("stops a body without a length at the size that the Cargo says, and writes nothing beyond", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(makeBytes(3_000_000), { chunked: true }));
    let most = 0;
    const onProgress = ({ receivedBytes }: DownloadProgress): void => {
      most = Math.max(most, receivedBytes);
    };
    const error = await failureOf(run(fixture, { expected: { bytes: 1_000_000 }, onProgress }));
    expect(error).toMatchObject({ code: "model_hash_mismatch", message: "The model is longer than its 1000000 bytes" });
    expect(most).toBeLessThanOrEqual(1_000_000);
    expect(await fixture.files()).toEqual([]);
  });

  it("takes a shorter body without a length for a truncated one", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach(PATH, file(BYTES.subarray(0, 70_000), { chunked: true }), file(BYTES));
    await run(fixture, { expected: { bytes: BYTES.length } });
    expect(await done(fixture)).toEqual(BYTES);
  });

  it("asks for room before it writes, and writes nothing beyond", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(makeBytes(3_000_000), { chunked: true }));
    const reserve = async (bytes: number): Promise<void> => {
      if (bytes > 1_000_000) throw new Error("no room");
    };
    expect((await failureOf(run(fixture, { reserve }))).message).toBe("no room");
    expect((await readFile(join(fixture.directory, "stem.part"))).length).toBeLessThanOrEqual(1_000_000);
  });

  it("says that the disk is full, keeps the part and goes on from it later", async () => {
    await using fixture = await StoreFixture.make();
    const bytes = makeBytes(3_000_000);
    fixture.server.on(PATH, file(bytes));
    const full = await failureOf(
      run(fixture, {}, async (stem, key, signal) => {
        const part = await PartFile.open(stem, key, signal);
        const append = part.append.bind(part);
        part.append = (chunk) =>
          part.bytes + chunk.length > 1_000_000
            ? Promise.reject(diskFailure(Object.assign(new Error("write"), { code: "ENOSPC" })))
            : append(chunk);
        return part;
      }),
    );
    expect(full).toMatchObject({ code: "model_unavailable", retryable: true });
    expect(full.message).toContain("disk of the model store is full");
    const kept = (await readFile(join(fixture.directory, "stem.part"))).length;
    expect(kept).toBeGreaterThan(0);
    await run(fixture);
    expect(await done(fixture)).toEqual(bytes);
    expect(fixture.server.requests[1]).toMatchObject({ range: `bytes=${kept}-`, sentBytes: bytes.length - kept });
  });

  it("stops at an abort with its reason, closes the socket and keeps the part", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, file(BYTES, { stallAfter: 70_000 }));
    const controller = new AbortController();
    const reason = new Error("enough");
    const onProgress = ({ receivedBytes }: DownloadProgress): void => {
      if (receivedBytes === 70_000) controller.abort(reason);
    };
    expect(await failureOf(run(fixture, { signal: controller.signal, onProgress }))).toBe(reason);
    expect(await readFile(join(fixture.directory, "stem.part"))).toEqual(BYTES.subarray(0, 70_000));
    await expect.poll(() => fixture.server.openSockets()).toBe(0);
  });

  it("stops at an abort before the server has answered", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on(PATH, () => undefined);
    const controller = new AbortController();
    const failure = failureOf(run(fixture, { signal: controller.signal }));
    await fixture.server.arrived(1);
    controller.abort(new Error("enough"));
    expect((await failure).message).toBe("enough");
    expect(await fixture.files()).toEqual([]);
  });
});

describe("downloadModel() from the hub", () => {
  const resolved = "/o/r/resolve/main/r-Q4_K_M.gguf";
  const manifest = (name: string): Buffer => Buffer.from(JSON.stringify({ ggufFile: { rfilename: name } }));

  it("asks the hub, as llama.cpp does, which file has the quantisation", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/v2/o/r/manifests/Q4_K_M", file(manifest("r-Q4_K_M.gguf")));
    fixture.server.on(resolved, file(BYTES));
    await run(fixture, { url: "hf:o/r:Q4_K_M", fetch: { hubToken: "hf_secret" } });
    expect(await done(fixture)).toEqual(BYTES);
    expect(fixture.server.requests).toMatchObject([
      { userAgent: "llama-cpp", authorization: "Bearer hf_secret" },
      { path: resolved, authorization: "Bearer hf_secret" },
    ]);
  });

  it("asks for the tag latest when the address names nothing, and tries again when the hub is ill", async () => {
    await using fixture = await StoreFixture.make();
    fixture.server.onEach("/v2/o/r/manifests/latest", status(502), file(manifest("r-Q4_K_M.gguf")));
    fixture.server.on(resolved, file(BYTES));
    expect(await run(fixture, { url: "hf:o/r" })).toBe(BYTES.length);
  });

  it.each([
    ["says nothing of a file", Buffer.from("{}"), "names no GGUF file"],
    ["is not JSON", Buffer.from("<html>"), "names no GGUF file"],
    ["names a split file", manifest("r-00001-of-00002.gguf"), "split"],
    ["is endless", makeBytes(1_100_000), "too long"],
  ])("fails when the manifest %s", async (_title, body, text) => {
    await using fixture = await StoreFixture.make();
    fixture.server.on("/v2/o/r/manifests/Q8_0", file(body));
    const error = await failureOf(run(fixture, { url: "hf:o/r:Q8_0" }));
    expect(error.message).toContain(text);
    expect(fixture.server.requests).toHaveLength(1);
  });

  it("checks the hash and size that the hub names before it redirects to the bytes", async () => {
    await using fixture = await StoreFixture.make();
    const linked = { "x-linked-etag": `"${sha256(Buffer.from("other"))}"`, "x-linked-size": String(BYTES.length) };
    fixture.server.on("/o/r/resolve/main/a.gguf", redirect("/cdn/a", 302, linked));
    fixture.server.on("/cdn/a", file(BYTES, { chunked: true }));
    const totals = new Set<number | null>();
    const failure = run(fixture, { url: "hf:o/r/a.gguf", onProgress: ({ totalBytes }) => totals.add(totalBytes) });
    expect((await failureOf(failure)).code).toBe("model_hash_mismatch");
    expect([...totals]).toEqual([BYTES.length]);
  });

  it("does not believe a hash that another origin claims for the hub", async () => {
    await using fixture = await StoreFixture.make();
    await using coordinator = await StoreFixture.make();
    coordinator.server.on(PATH, file(BYTES, { headers: { "x-linked-etag": `"${sha256(Buffer.from("other"))}"` } }));
    const fetch = { coordinatorUrl: coordinator.server.url };
    expect(await run(fixture, { url: makeRef().url, fetch })).toBe(BYTES.length);
  });
});
