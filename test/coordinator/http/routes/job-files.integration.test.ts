import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FILES_FEATURE } from "../../../../shared/job-files.ts";
import type { Assign } from "../../../../shared/protocol/from-coordinator.ts";
import { beginFrames, finishedFrame } from "../../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../../support/network/fake-island.ts";
import { call as callApi } from "../../../support/http/http.ts";
import { unlessSeveral } from "../../../support/network/several-coordinators.ts";
import { makeCatalog } from "../../../support/small-catalog.ts";
import { TestCoordinator } from "../../../support/network/test-coordinator.ts";

const catalogDirectory = makeCatalog(["tiny-chat", "hash", "whisper-base", "modnet"]);
const BYTES = Buffer.from("island ".repeat(50_000));
const RUNTIMES = [
  { type: "wasm" as const, version: "test" },
  { type: "onnx" as const, version: "test" },
];
const FAILED = { type: "failed", seq: 1, code: "file_unavailable", message: "", retryable: true } as const;
const NEW = { runtimes: RUNTIMES, features: [FILES_FEATURE] };

describe("files in the inputs of jobs", () => {
  let coordinator: TestCoordinator;
  let account: { id: string; key: string; islandToken: string };
  let client: OpenAI;
  beforeEach(async () => {
    coordinator = await TestCoordinator.open({ catalogDirectory });
    account = await coordinator.createAccount("client@example.com");
    client = clientOf(account.key);
  });
  afterEach(async () => {
    expect(coordinator.fatal).toEqual([]);
    await coordinator[Symbol.asyncDispose]();
  });

  const clientOf = (apiKey: string) => new OpenAI({ apiKey, baseURL: `${coordinator.url}/api/v1`, maxRetries: 0 });
  const upload = async (bytes: Uint8Array = BYTES, by = client): Promise<string> =>
    (await by.files.create({ file: await toFile(bytes, "a.bin"), purpose: "user_data" })).id;
  const call = (method: string, path: string, body?: unknown) =>
    callApi(coordinator.url, account.key, method, path, body);
  const submit = (input: object, workload = "hash") => call("POST", "/jobs", { workload, input });
  const jobOf = async (input: object): Promise<string> => (await submit(input)).body.data.id as string;
  const fetchAs = (token: string, address = "", headers: Record<string, string> = {}) =>
    fetch(new URL(address, coordinator.url), { headers: { authorization: `Bearer ${token}`, ...headers } });
  const joinAs = (hello: object = NEW, token = account.islandToken) => FakeIsland.join(coordinator.url, token, hello);
  const fileOf = ({ files = [] }: Assign) => {
    const [file] = files;
    if (file === undefined) throw new Error("The job was given no file");
    return file;
  };

  it("are passed to the Island as a URL, and stay out of the job", async () => {
    const id = await upload();
    const jobId = await jobOf({ data: { file_id: id } });
    await using island = await joinAs();
    const assign = await island.next("assign");
    expect(assign.input).toEqual({ data: { file_id: id } });
    const file = fileOf(assign);
    const sha256 = createHash("sha256").update(BYTES).digest("hex");
    expect(file).toMatchObject({ at: ["data"], form: "text", bytes: BYTES.length, sha256 });
    const whole = await fetchAs(account.islandToken, file.address);
    expect(Buffer.from(await whole.arrayBuffer())).toEqual(BYTES);
    const part = await fetchAs(account.islandToken, file.address, { range: "bytes=7-12" });
    expect([part.status, await part.text()]).toEqual([206, "island"]);
    expect((await call("GET", `/jobs/${jobId}`)).body.data.input).toEqual({ data: { file_id: id } });
    island.send(...beginFrames(assign), finishedFrame(assign, 1, { output: { bytes: 1, hashes: {} } }));
    await expect.poll(async () => (await fetchAs(account.islandToken, file.address)).status).toBe(404);
  });

  it("are refused to any other token, Island, attempt, file or time", async () => {
    const [id, other] = [await upload(), await upload(Buffer.from("other"))];
    await jobOf({ data: { file_id: id } });
    await using island = await joinAs();
    const { address } = fileOf(await island.next("assign"));
    const stranger = await coordinator.createAccount("stranger@example.com");
    const changed = (name: string, value: string): string => {
      const url = new URL(address, coordinator.url);
      url.searchParams.set(name, value);
      return url.href;
    };
    const later = String(Number(new URL(address, coordinator.url).searchParams.get("expires")) + 1);
    const asked: readonly (readonly [string, string])[] = [
      [stranger.islandToken, address],
      [account.islandToken, changed("attempt", "2")],
      [account.islandToken, changed("host_id", "00000000-0000-4000-8000-000000000001")],
      [account.islandToken, changed("job", "job_01ARZ3NDEKTSV4RRFFQ69G5FAV")],
      [account.islandToken, changed("expires", later)],
      [account.islandToken, changed("signature", "A".repeat(43))],
      [account.islandToken, address.replace(id, other)],
    ];
    for (const [token, url] of asked) expect([url, (await fetchAs(token, url)).status]).toEqual([url, 404]);
    expect((await fetchAs(account.key, address)).status).toBe(401);
    expect((await fetch(new URL(address, coordinator.url))).status).toBe(401);
  });

  it("must belong to the account, be allowed in their field, and be few", async () => {
    const stranger = await coordinator.createAccount("stranger@example.com");
    const [foreign, own, small] = [
      await upload(BYTES, clientOf(stranger.key)),
      await upload(),
      await upload(Buffer.from("x")),
    ];
    const pathsOf = async (...args: Parameters<typeof submit>) => {
      const { status, body } = await submit(...args);
      return [status, ...body.error.details.map(({ path }: { path: string }) => path)];
    };
    expect(await pathsOf({ data: { file_id: foreign } })).toEqual([422, "input.data"]);
    expect(await pathsOf({ data: { file_id: "file_nothing" } })).toEqual([422, "input.data"]);
    // These fields accept no strings, or only strings of a certain format.
    expect(await pathsOf({ data: "a", encoding: { file_id: own } })).toEqual([422, "input.encoding"]);
    expect(await pathsOf({ data: { file_id: own, more: 1 } })).toEqual([422, "input.data"]);
    expect(await pathsOf({ prompt: { file_id: own } }, "tiny-chat")).toEqual([422, "input.prompt"]);
    // One file is smaller than the schema's minimum, and the other is longer than a short string may be.
    expect(await pathsOf({ audio: { file_id: small } }, "whisper-base")).toEqual([422, "input.audio"]);
    expect(await pathsOf({ audio: { file_id: own }, language: { file_id: own } }, "whisper-base")).toEqual([
      422,
      "input.language",
    ]);
    expect((await submit({ audio: { file_id: own } }, "whisper-base")).status).toBe(201);
  });

  it("are kept until the job has ended", async () => {
    const id = await upload();
    const jobId = await jobOf({ data: { file_id: id } });
    await expect(client.files.delete(id)).rejects.toMatchObject({ status: 422, code: "file_in_use" });
    await call("DELETE", `/jobs/${jobId}`);
    await expect(client.files.delete(id)).resolves.toMatchObject({ deleted: true });
    expect((await submit({ data: { file_id: id } })).status).toBe(422);
  });

  it("are not kept for a refused job or batch", async () => {
    const { key } = await coordinator.createAccount("poor@example.com", 0);
    const poor = clientOf(key);
    const id = await upload(BYTES, poor);
    const input = { data: { file_id: id } };
    const one = await callApi(coordinator.url, key, "POST", "/jobs", { workload: "hash", input });
    const some = await callApi(coordinator.url, key, "POST", "/jobs/batch", { workload: "hash", inputs: [input] });
    expect([one.status, some.status]).toEqual([402, 402]);
    await expect(poor.files.delete(id)).resolves.toMatchObject({ deleted: true });
  });

  it(
    ...unlessSeveral(
      "wait for an Island whose agent fetches files, with that reason",
      "each reports what its own Islands lack",
    ),
    async () => {
      const jobId = await jobOf({ data: { file_id: await upload() } });
      await using old = await joinAs({ runtimes: RUNTIMES });
      await expect
        .poll(async () => (await call("GET", `/jobs/${jobId}`)).body.data.waiting?.message)
        .toMatch(/files|features|agent/);
      expect(old.pending("assign")).toEqual([]);
      await using island = await joinAs({ ...NEW, hostId: crypto.randomUUID() });
      expect(fileOf(await island.next("assign")).bytes).toBe(BYTES.length);
    },
  );

  it(
    ...unlessSeveral(
      "follow the job to another Island, and through a restart",
      "a job avoids an Island exactly within a coordinator",
    ),
    async () => {
      const jobId = await jobOf({ data: { file_id: await upload() } });
      await using first = await joinAs({ ...NEW, hostId: crypto.randomUUID() });
      const lost = await first.next("assign");
      const host = await coordinator.createAccount("host@example.com");
      await using second = await joinAs({ ...NEW, hostId: crypto.randomUUID() }, host.islandToken);
      first.send(...beginFrames(lost), { ...FAILED, jobId: lost.jobId, attempt: lost.attempt });
      const assign = await second.next("assign");
      expect([assign.jobId, assign.attempt]).toEqual([jobId, 2]);
      const { address } = fileOf(assign);
      expect((await fetchAs(account.islandToken, address)).status).toBe(404);
      expect((await fetchAs(host.islandToken, address)).status).toBe(200);
      await coordinator.stop();
      await coordinator.start();
      expect((await fetchAs(host.islandToken, address)).status).toBe(200);
    },
  );

  it("return 503 if the coordinator's disk does not have them", async () => {
    await jobOf({ data: { file_id: await upload() } });
    await using island = await joinAs();
    const { address } = fileOf(await island.next("assign"));
    await rm(join(coordinator.directory, "files"), { recursive: true });
    expect((await fetchAs(account.islandToken, address)).status).toBe(503);
  });
});
