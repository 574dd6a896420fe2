import { createHash } from "node:crypto";
import { readdir, utimes } from "node:fs/promises";
import { join } from "node:path";
import OpenAI, { toFile } from "openai";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Api } from "../http/api.ts";

const BYTES = Buffer.from("atoll ".repeat(5_000));

describe("/files", () => {
  let api: Api;
  let client: OpenAI;
  beforeAll(async () => {
    api = await Api.open();
    client = new OpenAI({ apiKey: api.key, baseURL: `${api.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => api[Symbol.asyncDispose]());
  afterEach(() => api.files.removeAll(api.accountId));

  const upload = async (bytes: Buffer = BYTES, name = "a.txt") =>
    client.files.create({ file: await toFile(bytes, name), purpose: "user_data" });

  const contents = async (): Promise<string[]> => {
    const root = join(api.directory, "files", "content");
    return (await Promise.all((await readdir(root)).map((folder) => readdir(join(root, folder))))).flat();
  };

  it("uploads, shows, lists, returns and deletes a file for the official client", async () => {
    const file = await upload();
    expect(file).toMatchObject({ object: "file", bytes: BYTES.length, filename: "a.txt", purpose: "user_data" });
    expect(file).toMatchObject({ status: "processed", sha256: createHash("sha256").update(BYTES).digest("hex") });
    expect(await client.files.retrieve(file.id)).toEqual(file);
    const content = await client.files.content(file.id);
    expect(Buffer.from(await content.arrayBuffer())).toEqual(BYTES);
    expect(content.headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''a.txt");
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404, code: "not_found" });
    await expect(client.files.delete(file.id)).rejects.toMatchObject({ status: 404 });
    expect(await contents()).toEqual([]);
  });

  it("returns files with any name", async () => {
    const { id } = await upload(BYTES, "l'été (1)*.txt");
    const { headers } = await client.files.content(id);
    expect(headers.get("content-disposition")).toBe("attachment; filename*=UTF-8''l%27%C3%A9t%C3%A9%20%281%29%2A.txt");
  });

  it("lists files in pages, newest or oldest first", async () => {
    const ids: string[] = [];
    for (const name of ["1", "2", "3"]) ids.push((await upload(Buffer.from(name))).id);
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids.toReversed());
    const { body } = await api.call("GET", `/files?order=asc&limit=1&after=${ids[0]}`);
    expect(body).toMatchObject({ object: "list", first_id: ids[1], last_id: ids[1], has_more: true });
    expect((await api.call("GET", "/files?purpose=batch")).body.data).toEqual([]);
    expect((await api.call("GET", "/files?purpose=all")).status).toBe(422);
  });

  it("returns parts for Range, and 304 for a matching ETag", async () => {
    const { id } = await upload();
    const path = `/files/${id}/content`;
    const part = await api.call("GET", path, { headers: { range: "bytes=6-10" } });
    expect([part.status, part.text, part.headers.get("content-range")]).toEqual([
      206,
      "atoll",
      `bytes 6-10/${BYTES.length}`,
    ]);
    const tag = part.headers.get("etag") ?? "";
    expect(tag).toContain(createHash("sha256").update(BYTES).digest("hex"));
    expect(
      (await api.call("GET", path, { headers: { "if-none-match": tag, "cache-control": "max-age=0" } })).status,
    ).toBe(304);
    expect((await api.call("GET", path, { headers: { range: "bytes=999999-" } })).status).toBe(416);
  });

  it("does not reveal when the same content was first stored, which may be another account's", async () => {
    const first = await upload();
    const [name = ""] = await contents();
    await utimes(join(api.directory, "files", "content", name.slice(0, 2), name), 1, 1);
    const second = await upload();
    expect(await contents()).toEqual([name]);
    for (const { id, created_at } of [first, second]) {
      const { headers } = await api.call("GET", `/files/${id}/content`);
      expect(headers.get("last-modified")).toBe(new Date(created_at * 1_000).toUTCString());
    }
  });

  it("shows files only to their account, and requires scopes", async () => {
    const { id } = await upload();
    const other = await Api.open();
    try {
      for (const path of [`/files/${id}`, `/files/${id}/content`]) {
        expect((await api.call("GET", path, { key: other.key })).status).toBe(404);
      }
      expect((await api.call("DELETE", `/files/${id}`, { key: other.key })).status).toBe(404);
      expect((await api.call("GET", "/files", { key: other.key })).body.data).toEqual([]);
    } finally {
      await other[Symbol.asyncDispose]();
    }
    expect((await api.call("DELETE", `/files/${id}`, { key: api.readKey })).status).toBe(403);
    expect((await api.call("GET", `/files/${id}`, { key: api.writeKey })).status).toBe(403);
    expect((await api.call("POST", "/files", { key: api.readKey })).status).toBe(403);
  });

  it("stores equal contents once, until the last file is deleted", async () => {
    const [one, two] = [await upload(), await upload(BYTES, "b.txt")];
    expect(await contents()).toHaveLength(1);
    await client.files.delete(one.id);
    expect(Buffer.from(await (await client.files.content(two.id)).arrayBuffer())).toEqual(BYTES);
    await client.files.delete(two.id);
    expect(await contents()).toEqual([]);
  });

  it("returns 413 for files that are too large, too many, or exceed the account's budget", async () => {
    const large = { status: 413, code: "payload_too_large" };
    await expect(upload(Buffer.alloc(1_000_001))).rejects.toMatchObject(large);
    await upload(Buffer.alloc(999_000));
    await upload(Buffer.alloc(900_000));
    const refused = { status: 413, code: "file_budget_exceeded" };
    await expect(upload(Buffer.alloc(200_000))).rejects.toMatchObject(refused);
    for (const name of ["1", "2", "3"]) await upload(Buffer.from(name));
    await expect(upload(Buffer.from("4"))).rejects.toMatchObject(refused);
    expect(await readdir(api.files.arriving)).toEqual([]);
  });

  it("requires a file and a purpose", async () => {
    const post = async (...parts: [string, string | Blob][]) => {
      const form = new FormData();
      for (const [name, value] of parts) form.append(name, value);
      const headers = { authorization: `Bearer ${api.key}` };
      const answer = await fetch(`${api.url}/v1/files`, { method: "POST", body: form, headers });
      return [answer.status, (JSON.parse(await answer.text()) as { error: { message: string } }).error.message];
    };
    expect(await post(["file", new Blob(["a"])])).toEqual([400, expect.stringContaining("purpose:")]);
    expect(await post(["purpose", "user_data"])).toEqual([400, "file: must be a file"]);
    expect(await post(["purpose", "user_data"], ["file", "text"])).toEqual([400, "file: must be a file"]);
    expect(await post(["purpose", "vision"], ["purpose", "user_data"], ["file", new Blob(["a"])])).toEqual([
      400,
      "purpose: must be sent only once",
    ]);
    expect(await post(["purpose", "none"], ["file", new Blob(["a"])])).toEqual([
      400,
      expect.stringContaining("purpose:"),
    ]);
    expect(await readdir(api.files.arriving)).toEqual([]);
    expect(await contents()).toEqual([]);
  });

  describe("retention", () => {
    beforeEach(() => api.files.removeAll(api.accountId));

    it("removes files from disk when they expire as their client set it", async () => {
      const expires_after = { anchor: "created_at", seconds: 3_600 } as const;
      const file = await client.files.create({ file: await toFile(BYTES, "a"), purpose: "batch", expires_after });
      expect(file.expires_at).toBe(Math.floor(api.clock.now() / 1_000) + 3_600);
      expect((await upload(Buffer.from("b"))).expires_at).toBe(Math.floor(api.clock.now() / 1_000) + 30 * 86_400);
      api.clock.advance(3_600_000);
      await expect(client.files.retrieve(file.id)).rejects.toMatchObject({ status: 404 });
      expect(await contents()).toHaveLength(2);
      await api.files.sweep();
      expect(await contents()).toHaveLength(1);
    });

    it("removes all files with their account", async () => {
      await upload();
      await upload(Buffer.from("b"));
      await api.files.removeAll(api.accountId);
      expect((await client.files.list()).data).toEqual([]);
      expect(await contents()).toEqual([]);
    });
  });
});
