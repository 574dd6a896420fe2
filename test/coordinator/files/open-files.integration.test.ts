import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../shared/clock.ts";
import { attemptTokens } from "../../../coordinator/dispatch/attempt-tokens.ts";
import { openFiles, type Files } from "../../../coordinator/files/open-files.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { CAN_MOUNT, SmallDisk } from "../../support/small-disk.ts";
import { testEnv } from "../../support/test-env.ts";
import { openTestStore, type TestStore } from "../../support/store/test-store.ts";
import { makeAccount } from "../store/contract/store-builders.ts";

const MIB = 1_048_576;
const tokens = attemptTokens(Buffer.alloc(32, 1));

describe("openFiles()", () => {
  const clock = new ManualClock();
  let directory: string;
  let store: TestStore;
  let accountId: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-files-"));
    store = await openTestStore({ path: join(directory, "atoll.db"), clock });
    accountId = await makeAccount(store);
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function open(filesDirectory = join(directory, "files"), minFreeDiskBytes = 0): Promise<Files> {
    const limits = { fileMaxBytes: MIB, filesBudgetBytes: 2 * MIB, keepFilesMs: 0 };
    const env = testEnv({ ...limits, filesDirectory, minFreeDiskBytes }, { clock });
    const files = openFiles(env, store, tokens);
    // Creates the folders.
    await files.receive(accountId, 0, async () => undefined);
    return files;
  }

  async function arrive(files: Files, text: string, filename = "a") {
    const path = join(files.arriving, text);
    await writeFile(path, text);
    const sha256 = createHash("sha256").update(text).digest("hex");
    const facts = { path, filename, sha256, sizeBytes: text.length, expiresAfterMs: null };
    return files.add(accountId, { ...facts, purpose: "user_data" });
  }

  const contentsOf = async (files: Files): Promise<string[]> => {
    const { root } = await files.content(accountId, (await files.list(accountId, LIST))[0]?.id ?? "");
    return (await Promise.all((await readdir(root)).map((folder) => readdir(join(root, folder))))).flat();
  };
  const LIST = { afterId: null, limit: 10, isNewestFirst: true, purpose: null };

  it("removes only what a crash left on disk", async () => {
    const files = await open();
    const file = await arrive(files, "kept");
    const { root } = await files.content(accountId, file.id);
    const orphan = `${"ab".repeat(32)}-file_1`;
    await mkdir(join(root, "ab"), { recursive: true });
    await writeFile(join(root, "ab", orphan), "lost");
    await mkdir(join(files.arriving, "form-1"));
    // Earlier versions kept parts of uploads here.
    const parts = join(directory, "files", "uploads");
    await mkdir(join(parts, "upload_1"), { recursive: true });
    await writeFile(join(parts, "upload_1", "part_1"), "part");
    await files.sweep();
    // The file could belong to an upload in progress.
    expect(await contentsOf(files)).toHaveLength(2);
    await expect(readdir(parts)).rejects.toThrow("ENOENT");
    // The service keeps files with other names than its own, even after a day.
    await writeFile(join(root, "ab", "notes.txt"), "");
    vi.spyOn(systemClock, "now").mockReturnValue(systemClock.now() + 86_400_000);
    await files.sweep();
    vi.restoreAllMocks();
    expect((await contentsOf(files)).toSorted()).toEqual([file.blob, "notes.txt"].toSorted());
    expect(await readdir(files.arriving)).toEqual([]);
  });

  it("sanitizes file names of clients", async () => {
    const files = await open();
    expect((await arrive(files, "1", "../../etc/passwd")).filename).toBe("passwd");
    expect((await arrive(files, "2", "C:\\a\u0000\nb.txt")).filename).toBe("ab.txt");
    const { filename, id } = await arrive(files, "3", "..\u0000/");
    expect(filename).toBe(id);
    expect((await arrive(files, "4", `${"x".repeat(254)}\u{1F3DD}`)).filename).toHaveLength(255);
    expect((await files.list(accountId, LIST)).map((file) => file.filename)).toContain("ab.txt");
  });

  it("reserves space for concurrent uploads", async () => {
    const files = await open();
    const hold = Promise.withResolvers<void>();
    const first = files.receive(accountId, 1.5 * MIB, () => hold.promise);
    await expect
      .poll(() => files.receive(accountId, MIB, async () => "in").catch((error: Error) => error))
      .toMatchObject({
        code: "file_budget_exceeded",
      });
    hold.resolve();
    await first;
    expect(await files.receive(accountId, MIB, async () => "in")).toBe("in");
  });

  it.runIf(CAN_MOUNT)("refuses a file that would leave too little free disk space", async () => {
    using disk = new SmallDisk(2 * MIB);
    const files = await open(disk.path, MIB);
    expect(await files.receive(accountId, 0.5 * MIB, async () => "in")).toBe("in");
    await expect(files.receive(accountId, 1.5 * MIB, async () => "in")).rejects.toMatchObject({ code: "disk_full" });
  });
});
