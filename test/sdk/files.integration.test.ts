import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Atoll, NotFoundError } from "../../sdk/typescript/src/index.ts";
import { makeFastDirectory } from "../support/fast-directory.ts";
import { collect } from "../support/http/http.ts";
import { TestCoordinator } from "../support/network/test-coordinator.ts";

/** Password that deletes the account. */
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

  it("are uploaded, downloaded unchanged, listed and deleted", async () => {
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

  it("are deleted with their account", async () => {
    await atoll.files.upload({ content: new Blob(["mine"]), filename: "a" });
    await atoll.account.delete(PASSWORD);
    await expect.poll(contents).toEqual([]);
  });
});
