import { expect } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import { UNSTORED_HOLD_MS, type FileList, type FileRecord } from "../../../../coordinator/store/files/files.ts";
import { makeFileBatch } from "./file-batch-store.cases.ts";
import { type Check, endUncharged, MADE_AT_MS, makeAccount, makeJob } from "./store-builders.ts";

const BUDGET = { maxBytes: 100, maxFiles: 4 };
const NOW_MS = MADE_AT_MS;
const ALL: FileList = { afterId: null, limit: 10, isNewestFirst: false, purpose: null, nowMs: NOW_MS };

function makeFile(accountId: string, override: Partial<FileRecord> = {}): FileRecord {
  const id = newId("file", MADE_AT_MS);
  const sha256 = override.sha256 ?? id;
  return {
    id,
    accountId,
    purpose: "user_data",
    filename: "\u{1F3DD} a.txt",
    sizeBytes: 10,
    sha256,
    blob: `${sha256}-${id}`,
    createdAtMs: MADE_AT_MS,
    expiresAtMs: null,
    ...override,
  };
}

export function describeFiles(check: Check): void {
  check("files.get() returns what add() stored, and only to its account", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const file = makeFile(ann, { expiresAtMs: NOW_MS + 1 });
    expect(await store.files.add(file, BUDGET)).toEqual(file);
    expect(await store.files.get(ann, file.id, NOW_MS)).toEqual(file);
    expect(await store.files.get(bob, file.id, NOW_MS)).toBeUndefined();
    expect(await store.files.get(ann, `${file.id}\0`, NOW_MS)).toBeUndefined();
    // The file no longer exists from its expiry on.
    expect(await store.files.get(ann, file.id, NOW_MS + 1)).toBeUndefined();
  });

  check("files.add() refuses files above the budget in bytes or number, and stores nothing", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    await store.files.add(makeFile(ann, { sizeBytes: 60 }), BUDGET);
    const refused = { code: "file_budget_exceeded" };
    await expect(store.files.add(makeFile(ann, { sizeBytes: 41 }), BUDGET)).rejects.toMatchObject(refused);
    for (let count = 0; count < 3; count += 1) await store.files.add(makeFile(ann, { sizeBytes: 1 }), BUDGET);
    await expect(store.files.add(makeFile(ann, { sizeBytes: 1 }), BUDGET)).rejects.toMatchObject(refused);
    expect(await store.files.usage(ann)).toEqual({ files: 4, bytes: 63 });
    expect(await store.files.usage(bob)).toEqual({ files: 0, bytes: 0 });
    // Concurrent files are counted one after the other.
    const added = Array.from({ length: 6 }, () => store.files.add(makeFile(bob, { sizeBytes: 30 }), BUDGET));
    expect((await Promise.allSettled(added)).filter(({ status }) => status === "fulfilled")).toHaveLength(3);
  });

  check("files.add() shares equal content, which is removed with the last file", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const first = await store.files.add(makeFile(ann, { sha256: "same" }), BUDGET);
    const unused = makeFile(bob, { sha256: "same" });
    const second = await store.files.add(unused, BUDGET);
    expect(second.blob).toBe(first.blob);
    expect(await store.files.withoutFile([first.blob, unused.blob])).toEqual([unused.blob]);
    expect(await store.files.total()).toEqual({ files: 2, bytes: first.sizeBytes });
    expect(await store.files.remove(ann, second.id, NOW_MS)).toEqual({ files: 0, blobs: [] });
    expect(await store.files.remove(ann, first.id, NOW_MS)).toEqual({ files: 1, blobs: [] });
    expect(await store.files.remove(bob, second.id, NOW_MS)).toEqual({ files: 1, blobs: [first.blob] });
    expect(await store.files.withoutFile([first.blob])).toEqual([first.blob]);
    // The store never uses the name of removed content again.
    expect(await store.files.add(unused, BUDGET)).toMatchObject({ blob: unused.blob });
  });

  check("files.list() returns pages in both orders, by purpose, without expired files", async (store) => {
    const ann = await makeAccount(store);
    const [one, two, three, gone] = [
      makeFile(ann),
      makeFile(ann, { purpose: "batch" }),
      makeFile(ann),
      makeFile(ann, { expiresAtMs: NOW_MS }),
    ];
    for (const file of [one, two, three, gone]) await store.files.add(file, BUDGET);
    await store.files.add(makeFile(await makeAccount(store)), BUDGET);
    const ids = async (list: Partial<FileList>) =>
      (await store.files.list(ann, { ...ALL, ...list })).map(({ id }) => id);
    expect(await ids({})).toEqual([one.id, two.id, three.id]);
    expect(await ids({ limit: 1, afterId: one.id })).toEqual([two.id]);
    expect(await ids({ isNewestFirst: true, afterId: three.id })).toEqual([two.id, one.id]);
    expect(await ids({ purpose: "batch" })).toEqual([two.id]);
  });

  check("files.removeExpired() and removeOfAccount() remove up to the limit", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const expiring = [1, 2, 3].map((late) => makeFile(ann, { expiresAtMs: NOW_MS + late }));
    for (const file of [...expiring, makeFile(ann), makeFile(bob)]) await store.files.add(file, BUDGET);
    const removed = await store.files.removeExpired(NOW_MS + 2, 1);
    expect(removed).toEqual({ files: 1, blobs: [expiring[0]?.blob] });
    expect((await store.files.removeExpired(NOW_MS + 2, 10)).files).toBe(1);
    expect((await store.files.removeExpired(NOW_MS + 2, 10)).files).toBe(0);
    expect((await store.files.removeOfAccount(ann, 1)).files).toBe(1);
    expect((await store.files.removeOfAccount(ann, 10)).files).toBe(1);
    expect([await store.files.usage(ann), await store.files.usage(bob)]).toEqual([
      { files: 0, bytes: 0 },
      { files: 1, bytes: 10 },
    ]);
  });

  check(
    "files.hold() keeps files of the account until their jobs have ended, even past their expiry",
    async (store) => {
      const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
      const file = makeFile(ann, { expiresAtMs: NOW_MS + 1 });
      const gone = makeFile(ann, { expiresAtMs: NOW_MS });
      const foreign = makeFile(bob);
      for (const each of [file, gone, foreign]) await store.files.add(each, BUDGET);
      const job = makeJob(ann);
      const holds = [file, gone, foreign].map(({ id: fileId }) => ({ jobId: job.id, fileId }));
      const missing = await store.files.hold(ann, holds, NOW_MS);
      expect(missing.toSorted()).toEqual([gone.id, foreign.id].toSorted());
      // None of the files is held.
      expect((await store.files.remove(bob, foreign.id, NOW_MS)).files).toBe(1);
      const hold = { jobId: job.id, fileId: file.id };
      expect(await store.files.hold(ann, [hold, hold], NOW_MS)).toEqual([]);
      // The job is not stored yet.
      expect(await store.files.held(hold)).toBeUndefined();
      expect((await store.files.remove(ann, file.id, NOW_MS)).files).toBe(0);
      await store.jobs.submit(job);
      expect(await store.files.held(hold)).toEqual(file);
      const laterMs = NOW_MS + 10 * UNSTORED_HOLD_MS;
      expect(await store.files.removeOldHolds(laterMs, 10)).toBe(0);
      expect((await store.files.removeExpired(laterMs, 10)).blobs).toEqual([gone.blob]);
      expect((await store.files.remove(ann, file.id, laterMs)).files).toBe(0);
      await endUncharged(store, job.id, { event: "cancel", attempt: 0 });
      expect(await store.files.held(hold)).toBeUndefined();
      expect(await store.files.removeOldHolds(laterMs, 10)).toBe(1);
      expect((await store.files.removeExpired(laterMs, 10)).files).toBe(1);
    },
  );

  check("files.hold() keeps the input of a batch until the batch has ended, even past its expiry", async (store) => {
    const ann = await makeAccount(store);
    const file = makeFile(ann, { expiresAtMs: NOW_MS + 1 });
    await store.files.add(file, BUDGET);
    const batch = makeFileBatch(ann);
    const hold = { jobId: batch.id, fileId: file.id };
    expect(await store.files.hold(ann, [hold], NOW_MS)).toEqual([]);
    expect(await store.files.held(hold)).toBeUndefined();
    await store.fileBatches.add(batch, 9);
    expect(await store.files.held(hold)).toEqual(file);
    const laterMs = NOW_MS + 10 * UNSTORED_HOLD_MS;
    expect(await store.files.removeOldHolds(laterMs, 10)).toBe(0);
    expect((await store.files.remove(ann, file.id, laterMs)).files).toBe(0);
    expect((await store.files.removeExpired(laterMs, 10)).files).toBe(0);
    await store.fileBatches.lease({ ownerId: "coord_1", untilMs: NOW_MS + 10 }, NOW_MS, 9);
    await store.fileBatches.end({ id: batch.id, ownerId: "coord_1" }, batch.progress, NOW_MS);
    expect(await store.files.held(hold)).toBeUndefined();
    expect(await store.files.removeOldHolds(laterMs, 10)).toBe(1);
    expect((await store.files.removeExpired(laterMs, 10)).files).toBe(1);
  });

  check("files.unhold() releases the files of a refused job", async (store) => {
    const ann = await makeAccount(store);
    const [file, other] = [makeFile(ann), makeFile(ann)];
    for (const each of [file, other]) await store.files.add(each, BUDGET);
    const [refused, stored] = [newId("job", NOW_MS), makeJob(ann)];
    await store.files.hold(ann, [{ jobId: refused, fileId: file.id }], NOW_MS);
    await store.files.hold(ann, [{ jobId: stored.id, fileId: other.id }], NOW_MS);
    await store.files.unhold([{ jobId: refused, fileId: file.id }]);
    expect((await store.files.remove(ann, file.id, NOW_MS)).files).toBe(1);
    expect((await store.files.remove(ann, other.id, NOW_MS)).files).toBe(0);
  });

  check(
    "files.hold() for a job that is never stored expires, and does not outlive a deleted account",
    async (store) => {
      const ann = await makeAccount(store);
      const [one, two] = [makeFile(ann), makeFile(ann)];
      for (const file of [one, two]) await store.files.add(file, BUDGET);
      const holds = [one, two].map(({ id: fileId }) => ({ jobId: newId("job", NOW_MS), fileId }));
      await store.files.hold(ann, holds, NOW_MS);
      expect((await store.files.remove(ann, one.id, NOW_MS + UNSTORED_HOLD_MS - 1)).files).toBe(0);
      expect((await store.files.remove(ann, one.id, NOW_MS + UNSTORED_HOLD_MS)).files).toBe(1);
      expect((await store.files.removeOfAccount(ann, 10)).files).toBe(1);
      expect(await store.files.removeOldHolds(NOW_MS + UNSTORED_HOLD_MS, 10)).toBe(0);
    },
  );
}
