import { createHash } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJobFiles, type FetchJobFiles } from "../../../island-agent/execution/job-files.ts";
import { resolveFetchPolicy } from "../../../island-agent/models/download/fetch-policy.ts";
import { systemClock } from "../../../shared/clock.ts";
import { ISLAND_FILES_PATH, type JobFile } from "../../../shared/job-files.ts";

const BYTES = Buffer.from("0123456789".repeat(30_000));
const NEVER = new AbortController().signal;

describe("openJobFiles()", () => {
  let directory: string;
  let server: Server;
  let respond: (request: IncomingMessage, response: ServerResponse) => void;
  let seen: { range: string | undefined; token: string | undefined }[];
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-job-files-"));
    seen = [];
    server = createServer((request, response) => {
      seen.push({ range: request.headers.range, token: request.headers.authorization });
      respond(request, response);
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  afterEach(async () => {
    server.closeAllConnections();
    server.close();
    await rm(directory, { recursive: true, force: true });
  });

  const open = (): Promise<FetchJobFiles> => {
    const coordinatorUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const policy = resolveFetchPolicy({ coordinatorUrl, stallMs: 300, maxAttempts: 3, backoffMs: 1, maxBackoffMs: 1 });
    return openJobFiles({ directory: join(directory, "job-files"), policy, token: "it_1", clock: systemClock });
  };
  const fileOf = (override: Partial<JobFile> = {}, bytes = BYTES): JobFile => ({
    at: ["audio"],
    form: "base64",
    bytes: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    address: `${ISLAND_FILES_PATH}file_1?signature=a`,
    ...override,
  });
  const left = async (): Promise<string[]> => readdir(join(directory, "job-files")).catch(() => []);
  /** Serves the requested range, like the coordinator. */
  const serve = (request: IncomingMessage, response: ServerResponse, upTo = Infinity): void => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? "")?.[1] ?? 0);
    const range = `bytes ${from}-${BYTES.length - 1}/${BYTES.length}`;
    response.writeHead(from > 0 ? 206 : 200, {
      "content-length": BYTES.length - from,
      ...(from > 0 ? { "content-range": range } : {}),
    });
    if (upTo >= BYTES.length) return void response.end(BYTES.subarray(from));
    response.write(BYTES.subarray(from, upTo), () => setTimeout(() => response.destroy(), 50));
  };

  it("inserts bytes and texts into the input, sends the Island's token, and removes the files afterwards", async () => {
    respond = (request, response) => serve(request, response);
    const fetchFiles = await open();
    const given = [fileOf(), fileOf({ at: ["more", "0", "text"], form: "text" })];
    {
      await using fetched = await fetchFiles(given, NEVER, () => {});
      expect(await left()).toHaveLength(1);
      const input = { audio: { file_id: "a" }, more: [{ text: { file_id: "b" }, kept: 1 }] };
      expect(await fetched.putInto(input)).toEqual({
        audio: BYTES.toString("base64"),
        more: [{ text: BYTES.toString(), kept: 1 }],
      });
      expect(input.audio).toEqual({ file_id: "a" });
    }
    expect(await left()).toEqual([]);
    expect(seen[0]).toEqual({ range: undefined, token: "Bearer it_1" });
  });

  it("resumes after a broken connection and after a 503 of a starting coordinator", async () => {
    respond = (request, response) => {
      if (seen.length === 1) return serve(request, response, 100_000);
      if (seen.length === 2) return void response.writeHead(503).end();
      return serve(request, response);
    };
    let parts = 0;
    const fetchFiles = await open();
    await using fetched = await fetchFiles([fileOf()], NEVER, () => (parts += 1));
    expect(await fetched.putInto({ audio: 1 })).toEqual({ audio: BYTES.toString("base64") });
    expect(seen).toHaveLength(3);
    expect(seen[2]?.range).toMatch(/^bytes=[1-9]/);
    expect(parts).toBeGreaterThan(1);
  });

  it.each<[string, typeof respond, Partial<JobFile>, RegExp, number]>([
    ["other bytes", (request, response) => serve(request, response), { sha256: "0".repeat(64) }, /SHA-256/, 1],
    ["more bytes", (request, response) => serve(request, response), { bytes: 100_000 }, /longer/, 1],
    ["fewer bytes", (request, response) => serve(request, response), { bytes: 400_000 }, /of 400000|broke|416|206/, 3],
    ["an expired address", (_, response) => void response.writeHead(404).end(), {}, /HTTP 404/, 1],
    ["a redirect", (_, response) => void response.writeHead(307, { location: "/x" }).end(), {}, /reached/, 3],
    ["silence", () => {}, {}, /no byte/, 3],
    ["silence after the head", (_, response) => response.writeHead(200).flushHeaders(), {}, /no byte/, 3],
    [
      "another range",
      (_, response) => void response.writeHead(206, { "content-range": "bytes 5-9/10" }).end("56789"),
      {},
      /206/,
      3,
    ],
  ])("rejects %s and leaves no files", async (_, script, override, message, requests) => {
    respond = script;
    const fetched = (await open())([fileOf(override)], NEVER, () => {});
    await expect(fetched).rejects.toMatchObject({ code: "file_unavailable", retryable: true, message });
    expect(seen).toHaveLength(requests);
    expect(await left()).toEqual([]);
  });

  it("stops when the job is cancelled, and empties its folder at the start", async () => {
    const cancel = new AbortController();
    respond = (_, response) => {
      response.writeHead(200, { "content-length": BYTES.length });
      response.write(BYTES.subarray(0, 1_000), () => setTimeout(() => cancel.abort(new Error("cancelled")), 20));
    };
    const fetchFiles = await open();
    await expect(fetchFiles([fileOf()], cancel.signal, () => {})).rejects.toThrow("cancelled");
    expect(await left()).toEqual([]);
    respond = (request, response) => serve(request, response);
    await fetchFiles([fileOf()], NEVER, () => {});
    expect(await left()).toHaveLength(1);
    await open();
    expect(await left()).toEqual([]);
  });

  it("names the input field of a text that is not UTF-8", async () => {
    const bytes = Buffer.from([0xff, 0xfe]);
    respond = (_, response) => void response.end(bytes);
    await using fetched = await (await open())([fileOf({ form: "text" }, bytes)], NEVER, () => {});
    await expect(fetched.putInto({ audio: 1 })).rejects.toMatchObject({ code: "invalid_input", message: /^audio: / });
  });
});
