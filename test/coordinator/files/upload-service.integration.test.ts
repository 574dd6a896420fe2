import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../shared/clock.ts";
import { newId } from "../../../shared/ids.ts";
import { AttemptProofs } from "../../../coordinator/dispatch/attempt-proofs.ts";
import { FileContents } from "../../../coordinator/files/file-contents.ts";
import { FileService } from "../../../coordinator/files/file-service.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { CAN_MOUNT, SmallDisk } from "../../support/small-disk.ts";
import { openTestStore, type TestStore } from "../../support/test-store.ts";
import { makeAccount } from "../store/contract/store-builders.ts";

const MIB = 1_048_576;
const proofs = new AttemptProofs(Buffer.alloc(32, 1));
const NEW = { filename: "../a.bin", purpose: "user_data", fileLifeMs: null } as const;

describe("UploadService", () => {
  const clock = new ManualClock();
  let directory: string;
  let store: TestStore;
  let accountId: string;
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), "atoll-uploads-"));
    store = await openTestStore({ path: join(directory, "atoll.db"), clock });
    accountId = await makeAccount(store);
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  function open(at: string = join(directory, "files")): FileService {
    const limits = { maxFileBytes: 8 * MIB, budget: { maxBytes: 16 * MIB, maxFiles: 9 }, keepMs: 0 };
    const contents = new FileContents(at, 0);
    return new FileService({ store, proofs, contents, clock, log: pino({ level: "silent" }), limits });
  }

  const send = (files: FileService, id: string, bytes: Buffer) =>
    files.uploads.addPart(accountId, id, bytes.length, async () => {
      const path = join(files.arriving, newId("part", clock.now()));
      await writeFile(path, bytes);
      return { path, sizeBytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    });

  it("goes on after a restart with the parts that are there", async () => {
    const before = open();
    const { id } = await before.uploads.create(accountId, { ...NEW, sizeBytes: 3 });
    const first = await send(before, id, Buffer.from("ab"));
    await before.close();
    const files = open();
    await files.uploads.sweep();
    const second = await send(files, id, Buffer.from("c"));
    expect((await files.uploads.get(accountId, id)).parts).toEqual([first, second]);
    const { file } = await files.uploads.complete(accountId, id, [first.id, second.id], null);
    expect(file).toMatchObject({ filename: "a.bin", sizeBytes: 3 });
  });

  it("joins nothing once it is closed, and keeps the parts", async () => {
    const files = open();
    const { id } = await files.uploads.create(accountId, { ...NEW, sizeBytes: 1 });
    const part = await send(files, id, Buffer.from("a"));
    await files.close();
    const stopped = { code: "shutting_down" };
    await expect(files.uploads.complete(accountId, id, [part.id], null)).rejects.toMatchObject(stopped);
    expect(await readdir(files.arriving)).toEqual([]);
    expect((await open().uploads.get(accountId, id)).parts).toEqual([part]);
  });

  it("removes what a crash left on disk, and nothing else", async () => {
    const files = open();
    const { id } = await files.uploads.create(accountId, { ...NEW, sizeBytes: 1 });
    await send(files, id, Buffer.from("a"));
    const uploads = join(directory, "files", "uploads");
    const lost = newId("upload", clock.now());
    await mkdir(join(uploads, lost));
    await mkdir(join(uploads, "notes"));
    await files.uploads.sweep();
    // A first part may be under way.
    expect(await readdir(uploads)).toContain(lost);
    vi.spyOn(systemClock, "now").mockReturnValue(systemClock.now() + 86_400_000);
    await files.uploads.sweep();
    vi.restoreAllMocks();
    expect((await readdir(uploads)).toSorted()).toEqual(["notes", id].toSorted());
  });

  it("says that a disk lacks parts", async () => {
    const files = open();
    const { id } = await files.uploads.create(accountId, { ...NEW, sizeBytes: 1 });
    const part = await send(files, id, Buffer.from("a"));
    await rm(join(directory, "files", "uploads"), { recursive: true });
    const lacking = { code: "storage_unavailable" };
    await expect(files.uploads.complete(accountId, id, [part.id], null)).rejects.toMatchObject(lacking);
  });

  it("goes with its account", async () => {
    const files = open();
    const { id } = await files.uploads.create(accountId, { ...NEW, sizeBytes: 1 });
    await send(files, id, Buffer.from("a"));
    await files.removeAll(accountId);
    await expect(files.uploads.get(accountId, id)).rejects.toMatchObject({ code: "not_found" });
    expect(await readdir(join(directory, "files", "uploads"))).toEqual([]);
    expect(await store.files.usage(accountId)).toEqual({ files: 0, bytes: 0 });
  });

  it.runIf(CAN_MOUNT)("keeps its parts when the disk has no room for the file", async () => {
    using disk = new SmallDisk(5 * MIB);
    const files = open(disk.path);
    const { id } = await files.uploads.create(accountId, { ...NEW, sizeBytes: 3 * MIB });
    const part = await send(files, id, Buffer.alloc(3 * MIB, 1));
    const complete = () => files.uploads.complete(accountId, id, [part.id], null);
    await expect(complete()).rejects.toMatchObject({ code: "disk_full" });
    // Room is looked for before, and may be gone meanwhile.
    vi.spyOn(FileContents.prototype, "makeRoom").mockResolvedValue();
    await expect(complete()).rejects.toMatchObject({ code: "disk_full" });
    vi.restoreAllMocks();
    expect(await readdir(files.arriving)).toEqual([]);
    const upload = await files.uploads.get(accountId, id);
    expect([upload.state, upload.parts]).toEqual(["pending", [part]]);
  });
});
