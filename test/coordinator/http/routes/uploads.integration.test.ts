import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../api.ts";

const PARTS = [Buffer.from("atoll ".repeat(20_000)), Buffer.alloc(70_000, 1), Buffer.from("end")];
const BYTES = Buffer.concat(PARTS);
const hashOf = (bytes: Buffer, name = "sha256"): string => createHash(name).update(bytes).digest("hex");

describe("/uploads", () => {
  let api: Api;
  let client: OpenAI;
  beforeAll(async () => {
    api = await Api.open();
    client = new OpenAI({ apiKey: api.key, baseURL: `${api.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => api[Symbol.asyncDispose]());
  beforeEach(() => api.clock.advance(60_000));
  afterEach(() => api.files.removeAll(api.accountId));

  const start = (bytes = BYTES.length, more: Partial<OpenAI.UploadCreateParams> = {}) =>
    client.uploads.create({ bytes, filename: "a.bin", mime_type: "text/plain", purpose: "user_data", ...more });

  const send = async (id: string, bytes: Buffer) =>
    client.uploads.parts.create(id, { data: await toFile(bytes, "part") });

  const partsOnDisk = async (id: string): Promise<string[]> =>
    readdir(join(api.directory, "files", "uploads", id)).catch(() => []);

  it("make a file of parts that came in any order, as the official client asks", async () => {
    const upload = await start(BYTES.length, { expires_after: { anchor: "created_at", seconds: 3_600 } });
    expect(upload).toMatchObject({ object: "upload", status: "pending", bytes: BYTES.length, filename: "a.bin" });
    expect(upload.expires_at - upload.created_at).toBe(3_600);
    const [last, first, middle] = await Promise.all(
      [PARTS[2], PARTS[0], PARTS[1]].map((each) => send(upload.id, each!)),
    );
    expect(first).toMatchObject({ object: "upload.part", upload_id: upload.id });
    const part_ids = [first!.id, middle!.id, last!.id];
    const done = await client.uploads.complete(upload.id, { part_ids, md5: hashOf(BYTES, "md5") });
    expect(done).toMatchObject({ id: upload.id, status: "completed" });
    expect(done.file).toMatchObject({ object: "file", bytes: BYTES.length, sha256: hashOf(BYTES), filename: "a.bin" });
    expect((done.file?.expires_at ?? 0) - (done.file?.created_at ?? 0)).toBe(3_600);
    const content = await client.files.content(done.file?.id ?? "");
    expect(Buffer.from(await content.arrayBuffer())).toEqual(BYTES);
    expect(await partsOnDisk(upload.id)).toEqual([]);
    expect(await readdir(api.files.arriving)).toEqual([]);
  });

  it("show what has arrived, and take a repeat for the part that it was", async () => {
    const upload = await start();
    const first = await send(upload.id, PARTS[0]!);
    const repeats = await Promise.all([send(upload.id, PARTS[0]!), send(upload.id, PARTS[0]!)]);
    expect(repeats).toEqual([first, first]);
    const { body } = await api.call("GET", `/uploads/${upload.id}`);
    expect(body).toMatchObject({ status: "pending", file: null });
    const size = PARTS[0]!.length;
    expect(body.parts).toEqual([expect.objectContaining({ id: first.id, bytes: size, sha256: hashOf(PARTS[0]!) })]);
    expect(await partsOnDisk(upload.id)).toEqual([first.id]);
    expect(await api.call("GET", "/uploads/upload_none")).toMatchObject({ status: 404 });
  });

  it("may have a part several times", async () => {
    const upload = await start(6);
    const { id } = await send(upload.id, Buffer.from("ab"));
    const { file } = await client.uploads.complete(upload.id, { part_ids: [id, id, id] });
    expect(await (await client.files.content(file?.id ?? "")).text()).toBe("ababab");
  });

  it("are completed once, however often they are asked to be", async () => {
    const upload = await start();
    const ids = await Promise.all(PARTS.map(async (part) => (await send(upload.id, part)).id));
    const complete = (part_ids: string[]) => client.uploads.complete(upload.id, { part_ids });
    const all = await Promise.all([complete(ids), complete(ids), complete(ids)]);
    expect(new Set(all.map(({ file }) => file?.id)).size).toBe(1);
    expect((await client.files.list()).data).toHaveLength(1);
    expect((await complete(ids)).file).toEqual(all[0]?.file);
    const ended = { status: 400, code: "upload_not_pending" };
    await expect(complete(ids.toReversed())).rejects.toMatchObject(ended);
    await expect(send(upload.id, PARTS[0]!)).rejects.toMatchObject(ended);
    await expect(client.uploads.cancel(upload.id)).rejects.toMatchObject(ended);
    await client.files.delete(all[0]?.file?.id ?? "");
    expect((await complete(ids)).file).toBeNull();
  });

  it("stay as they are when parts are missing, foreign or damaged", async () => {
    const [upload, other] = [await start(), await start(3)];
    const ids = await Promise.all(PARTS.slice(0, 2).map(async (part) => (await send(upload.id, part)).id));
    const foreign = await send(other.id, PARTS[2]!);
    const complete = (part_ids: string[], md5?: string) =>
      client.uploads.complete(upload.id, { part_ids, ...(md5 === undefined ? {} : { md5 }) });
    await expect(complete(ids)).rejects.toThrow(`have ${BYTES.length - 3} bytes together`);
    await expect(complete([...ids, foreign.id])).rejects.toThrow("part_ids.2: is no part of this upload");
    await expect(complete([])).rejects.toMatchObject({ status: 400, param: "part_ids" });
    ids.push((await send(upload.id, PARTS[2]!)).id);
    await expect(complete(ids, hashOf(PARTS[0]!, "md5"))).rejects.toMatchObject({ status: 400, param: "md5" });
    await expect(complete(ids, "none")).rejects.toMatchObject({ status: 400, param: "md5" });
    expect((await complete(ids, hashOf(BYTES, "md5").toUpperCase())).status).toBe("completed");
  });

  it("are cancelled for good", async () => {
    const upload = await start();
    const part = await send(upload.id, PARTS[0]!);
    expect((await client.uploads.cancel(upload.id)).status).toBe("cancelled");
    expect((await client.uploads.cancel(upload.id)).status).toBe("cancelled");
    expect(await partsOnDisk(upload.id)).toEqual([]);
    const ended = { status: 400, code: "upload_not_pending" };
    await expect(send(upload.id, PARTS[0]!)).rejects.toMatchObject(ended);
    await expect(client.uploads.complete(upload.id, { part_ids: [part.id] })).rejects.toMatchObject(ended);
  });

  it("count for the account by what has arrived, and a file replaces its parts", async () => {
    const large = { status: 413, code: "payload_too_large" };
    await expect(start(1_000_001)).rejects.toMatchObject(large);
    const upload = await start(1_000_000);
    await expect(send(upload.id, Buffer.alloc(1_000_001))).rejects.toMatchObject(large);
    const part = await send(upload.id, Buffer.alloc(1_000_000));
    const second = await start(999_000);
    const filled = await send(second.id, Buffer.alloc(900_000));
    const refused = { status: 413, code: "file_budget_exceeded" };
    await expect(start(200_000)).rejects.toMatchObject(refused);
    await expect(
      client.files.create({ file: await toFile(Buffer.alloc(110_000), "a"), purpose: "user_data" }),
    ).rejects.toMatchObject(refused);
    await client.uploads.complete(upload.id, { part_ids: [part.id] });
    await client.uploads.cancel(second.id);
    expect(filled.upload_id).toBe(second.id);
    await start(990_000);
  });

  it("need a part of the form named data, and scopes", async () => {
    const { id } = await start();
    const form = new FormData();
    form.append("file", new Blob(["a"]), "a");
    const headers = { authorization: `Bearer ${api.key}` };
    const answer = await fetch(`${api.url}/v1/uploads/${id}/parts`, { method: "POST", body: form, headers });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining("data: must be a file")]);
    expect((await api.call("GET", `/uploads/${id}`, { key: api.writeKey })).status).toBe(403);
    expect((await api.call("POST", `/uploads/${id}/cancel`, { key: api.readKey })).status).toBe(403);
    const other = await Api.open();
    try {
      expect((await api.call("GET", `/uploads/${id}`, { key: other.key })).status).toBe(404);
      expect((await api.call("POST", `/uploads/${id}/cancel`, { key: other.key })).status).toBe(404);
    } finally {
      await other[Symbol.asyncDispose]();
    }
    expect(await readdir(api.files.arriving)).toEqual([]);
  });

  it("expire an hour after the last part, a day after their start, and are swept", async () => {
    const upload = await start(24);
    const minutes = (count: number) => api.clock.advance(count * 60_000);
    minutes(50);
    await send(upload.id, Buffer.from("a"));
    minutes(50);
    expect((await api.call("GET", `/uploads/${upload.id}`)).body.status).toBe("pending");
    minutes(10);
    expect((await api.call("GET", `/uploads/${upload.id}`)).body.status).toBe("expired");
    await expect(send(upload.id, Buffer.from("b"))).rejects.toMatchObject({ code: "upload_not_pending" });
    expect(await partsOnDisk(upload.id)).toHaveLength(1);
    await api.files.uploads.sweep();
    expect(await partsOnDisk(upload.id)).toEqual([]);
    expect((await api.call("GET", `/uploads/${upload.id}`)).status).toBe(404);
    const slow = await start(30);
    for (let count = 0; count < 28; count += 1) {
      // oxlint-disable-next-line no-await-in-loop
      await send(slow.id, Buffer.from([count]));
      minutes(50);
    }
    await send(slow.id, Buffer.from("z"));
    minutes(39);
    expect((await api.call("GET", `/uploads/${slow.id}`)).body.status).toBe("pending");
    minutes(1);
    expect((await api.call("GET", `/uploads/${slow.id}`)).body.status).toBe("expired");
  });
});
