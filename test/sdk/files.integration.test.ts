import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Atoll, NotFoundError } from "../../sdk/typescript/src/index.ts";
import { makeFastDirectory } from "../support/fast-directory.ts";
import { collect } from "../support/http.ts";
import { TestCoordinator } from "../support/test-coordinator.ts";

/** As whoever has a session deletes it. */
const PASSWORD = "correct horse battery";

describe("files", () => {
  let directory: string;
  let coordinator: TestCoordinator;
  let atoll: Atoll;
  beforeAll(async () => {
    directory = await makeFastDirectory("atoll-sdk-files-");
    coordinator = await TestCoordinator.open({ filesDir: directory, registration: "open" });
    const auth = new Atoll({ baseUrl: coordinator.url }).auth;
    const session = await auth.register({ email: "files@example.com", password: PASSWORD });
    atoll = new Atoll({ baseUrl: coordinator.url, apiKey: session?.token ?? "" });
  });
  afterAll(() => coordinator[Symbol.asyncDispose]());

  const contents = async (): Promise<string[]> => {
    const root = join(directory, "content");
    return (await Promise.all((await readdir(root)).map((folder) => readdir(join(root, folder))))).flat();
  };

  it("go up, come back byte for byte, are listed and deleted", async () => {
    const bytes = new Uint8Array(300_000).map((_, index) => index % 251);
    const file = await atoll.files.upload({ content: new Blob([bytes]), filename: "é.bin", expiresAfterS: 3_600 });
    expect(file).toMatchObject({ filename: "é.bin", bytes: bytes.length, purpose: "user_data" });
    expect((file.expires_at ?? 0) - file.created_at).toBe(3_600);
    expect(await atoll.files.get(file.id)).toEqual(file);
    expect(new Uint8Array(await (await atoll.files.content(file.id)).arrayBuffer())).toEqual(bytes);
    const more = await atoll.files.upload({ content: new Blob(["{}"]), filename: "b.jsonl", purpose: "batch" });
    expect((await collect(atoll.files.list({ limit: 1 }))).map(({ id }) => id)).toEqual([more.id, file.id]);
    expect(await collect(atoll.files.list({ purpose: "batch" }))).toEqual([more]);
    await atoll.files.delete(file.id);
    await expect(atoll.files.content(file.id)).rejects.toBeInstanceOf(NotFoundError);
    expect(await contents()).toHaveLength(1);
  });

  it("that are large go up in parts, which an upload that goes on does not send again", async () => {
    const bytes = new Uint8Array(250_000).map((_, index) => (index * index) % 251);
    const file = { content: new Blob([bytes]), filename: "c.bin", purpose: "vision", partBytes: 100_000 } as const;
    const told: { uploadId: string; sentBytes: number }[] = [];
    const cut = new AbortController();
    const stopped = atoll.files.uploadLarge(
      {
        ...file,
        onUpload: (state) => {
          told.push(state);
          if (state.sentBytes === 100_000) cut.abort(new Error("closed"));
        },
      },
      { signal: cut.signal },
    );
    await expect(stopped).rejects.toThrow("closed");
    const uploadId = told[0]?.uploadId ?? "";
    const other = { ...file, content: new Blob(["other"]), uploadId };
    await expect(atoll.files.uploadLarge(other)).rejects.toThrow("is of a file of 250000 bytes; this one has 5");
    // It keeps the size of the parts.
    const made = await atoll.files.uploadLarge({ ...file, uploadId, partBytes: 1_000, expiresAfterS: 3_600 });
    expect(made).toMatchObject({ bytes: bytes.length, filename: "c.bin", purpose: "vision" });
    expect(new Uint8Array(await (await atoll.files.content(made.id)).arrayBuffer())).toEqual(bytes);
    expect(told.map(({ sentBytes }) => sentBytes)).toEqual([0, 100_000]);
    const repeated = new Blob([new Uint8Array(250_000)]);
    const zeros = await atoll.files.uploadLarge({ ...file, content: repeated, expiresAfterS: 3_600 });
    expect([zeros.bytes, (zeros.expires_at ?? 0) - zeros.created_at]).toEqual([250_000, 3_600]);
    await expect(atoll.files.cancelUpload(uploadId)).rejects.toMatchObject({ code: "upload_not_pending" });
    await expect(atoll.files.uploadLarge({ ...file, partBytes: 0 })).rejects.toMatchObject({ code: "configuration" });
    for (const { id } of [made, zeros]) await atoll.files.delete(id);
  });

  it("go with their account", async () => {
    await atoll.files.upload({ content: new Blob(["mine"]), filename: "a" });
    await atoll.account.delete(PASSWORD);
    await expect.poll(contents).toEqual([]);
  });
});
