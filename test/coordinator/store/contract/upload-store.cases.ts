import { expect } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import type { FileRecord } from "../../../../coordinator/store/file-store.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import type { PartLimits, UploadPart, UploadRecord } from "../../../../coordinator/store/upload-store.ts";
import { type Check, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const NOW_MS = MADE_AT_MS;
const BUDGET = { maxBytes: 100, maxFiles: 2 };
const LIMITS: PartLimits = { budget: BUDGET, maxParts: 3, expiresAtMs: NOW_MS + 200 };

async function startUpload(
  store: Store,
  accountId: string,
  override: Partial<UploadRecord> = {},
): Promise<UploadRecord> {
  const upload: UploadRecord = {
    id: newId("upload", NOW_MS),
    accountId,
    purpose: "user_data",
    filename: "\u{1F3DD} a.txt",
    sizeBytes: 60,
    fileLifeMs: 3_600_000,
    state: "pending",
    fileId: null,
    partsHash: null,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 100,
    ...override,
  };
  await store.uploads.add(upload, 3);
  return upload;
}

function makePart(uploadId: string, override: Partial<UploadPart> = {}): UploadPart {
  const id = newId("part", NOW_MS);
  return { id, uploadId, sizeBytes: 20, sha256: id, createdAtMs: NOW_MS, ...override };
}

function makeFile(accountId: string, sizeBytes: number): FileRecord {
  const id = newId("file", NOW_MS);
  const names = { id, accountId, filename: "a", sha256: id, blob: `${id}-${id}` };
  return { ...names, purpose: "user_data", sizeBytes, createdAtMs: NOW_MS, expiresAtMs: null };
}

export function describeUploads(check: Check): void {
  check("uploads.get() and parts() give what was added, to its account alone", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const upload = await startUpload(store, ann);
    expect(await store.uploads.get(ann, upload.id)).toEqual(upload);
    expect(await store.uploads.get(bob, upload.id)).toBeUndefined();
    const parts = [makePart(upload.id), makePart(upload.id)];
    for (const part of parts) expect(await store.uploads.addPart(part, LIMITS)).toEqual(part);
    expect(await store.uploads.parts(upload.id)).toEqual(parts);
    // A new part puts the end off.
    expect(await store.uploads.get(ann, upload.id)).toMatchObject({ expiresAtMs: NOW_MS + 200 });
    // Both count as the account's.
    expect(await store.files.usage(ann)).toEqual({ files: 0, bytes: 40 });
    expect(await store.files.usage(bob)).toEqual({ files: 0, bytes: 0 });
  });

  check("uploads.add() refuses more than the account may have under way", async (store) => {
    const ann = await makeAccount(store);
    const [first] = [await startUpload(store, ann), await startUpload(store, ann), await startUpload(store, ann)];
    await expect(startUpload(store, ann)).rejects.toMatchObject({ code: "file_budget_exceeded" });
    expect(await store.uploads.cancel(ann, first.id)).toBe(true);
    await startUpload(store, ann);
    // Those that expired do not count.
    await startUpload(store, ann, { createdAtMs: NOW_MS + 100, expiresAtMs: NOW_MS + 300 });
  });

  check("uploads.addPart() keeps each content once", async (store) => {
    const ann = await makeAccount(store);
    const upload = await startUpload(store, ann);
    const first = await store.uploads.addPart(makePart(upload.id, { sha256: "same" }), LIMITS);
    const repeats = [1, 2].map(() => store.uploads.addPart(makePart(upload.id, { sha256: "same" }), LIMITS));
    expect(await Promise.all(repeats)).toEqual([first, first]);
    // Also where nothing more would fit.
    await store.uploads.addPart(makePart(upload.id, { sizeBytes: 40 }), LIMITS);
    expect(await store.uploads.addPart(makePart(upload.id, { sha256: "same" }), LIMITS)).toEqual(first);
    expect(await store.files.usage(ann)).toEqual({ files: 0, bytes: 60 });
    // Another upload has its own.
    const other = await startUpload(store, ann);
    const second = makePart(other.id, { sha256: "same" });
    expect(await store.uploads.addPart(second, LIMITS)).toEqual(second);
  });

  check("uploads.addPart() refuses what is too much, and stores nothing of it", async (store) => {
    const ann = await makeAccount(store);
    const [one, two] = [await startUpload(store, ann), await startUpload(store, ann)];
    const add = (id: string, part: Partial<UploadPart> = {}) => store.uploads.addPart(makePart(id, part), LIMITS);
    await expect(add(one.id, { sizeBytes: 61 })).rejects.toMatchObject({ code: "payload_too_large" });
    for (let count = 0; count < 3; count += 1) await add(one.id, { sizeBytes: 15 });
    await expect(add(one.id, { sizeBytes: 1 })).rejects.toMatchObject({ code: "too_many_parts" });
    await add(two.id, { sizeBytes: 50 });
    await expect(add(two.id, { sizeBytes: 6 })).rejects.toMatchObject({ code: "file_budget_exceeded" });
    await expect(store.files.add(makeFile(ann, 6), BUDGET)).rejects.toMatchObject({ code: "file_budget_exceeded" });
    const ended = { code: "upload_not_pending" };
    await expect(add("upload_none")).rejects.toMatchObject(ended);
    await expect(add(two.id, { sizeBytes: 1, createdAtMs: NOW_MS + 200 })).rejects.toMatchObject(ended);
    expect(await store.files.usage(ann)).toEqual({ files: 0, bytes: 95 });
  });

  check("uploads.addPart() counts parts that come at once one after the other", async (store) => {
    const ann = await makeAccount(store);
    const uploads = await Promise.all([startUpload(store, ann), startUpload(store, ann)]);
    const adding = [0, 1, 0, 1, 0, 1].map((index) =>
      store.uploads.addPart(makePart(uploads[index]?.id ?? "", { sizeBytes: 25 }), LIMITS),
    );
    expect((await Promise.allSettled(adding)).filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    expect(await store.files.usage(ann)).toEqual({ files: 0, bytes: 100 });
  });

  check("uploads.complete() makes one file of the parts, once", async (store) => {
    const ann = await makeAccount(store);
    const { id } = await startUpload(store, ann);
    for (let count = 0; count < 3; count += 1) await store.uploads.addPart(makePart(id), LIMITS);
    const complete = () => {
      const completion = { uploadId: id, partsHash: "hash", file: makeFile(ann, 60), budget: BUDGET };
      return store.uploads.complete(completion, NOW_MS);
    };
    // Above half of the budget: the parts become the file.
    const settled = await Promise.allSettled([complete(), complete(), complete()]);
    const made = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(made).toHaveLength(1);
    expect(await store.files.get(ann, made[0]?.id ?? "", NOW_MS)).toEqual(made[0]);
    expect(await store.files.usage(ann)).toEqual({ files: 1, bytes: 60 });
    expect(await store.uploads.parts(id)).toEqual([]);
    const completed = { state: "completed", fileId: made[0]?.id, partsHash: "hash" };
    expect(await store.uploads.get(ann, id)).toMatchObject(completed);
    const ended = { code: "upload_not_pending" };
    await expect(complete()).rejects.toMatchObject(ended);
    await expect(store.uploads.addPart(makePart(id), LIMITS)).rejects.toMatchObject(ended);
    expect(await store.uploads.cancel(ann, id)).toBe(false);
  });

  check("uploads.complete() that does not fit changes nothing", async (store) => {
    const ann = await makeAccount(store);
    const { id } = await startUpload(store, ann);
    const part = await store.uploads.addPart(makePart(id), LIMITS);
    const complete = (file: FileRecord, nowMs = NOW_MS, maxFiles = 1) => {
      const budget = { maxBytes: 100, maxFiles };
      return store.uploads.complete({ uploadId: id, partsHash: "hash", file, budget }, nowMs);
    };
    await store.files.add(makeFile(ann, 50), BUDGET);
    const refused = { code: "file_budget_exceeded" };
    await expect(complete(makeFile(ann, 50))).rejects.toMatchObject(refused);
    await expect(complete(makeFile(ann, 51), NOW_MS, 2)).rejects.toMatchObject(refused);
    await expect(complete(makeFile(ann, 1), NOW_MS + 200, 2)).rejects.toMatchObject({ code: "upload_not_pending" });
    expect(await store.uploads.parts(id)).toEqual([part]);
    expect(await store.uploads.get(ann, id)).toMatchObject({ state: "pending", fileId: null });
    await complete(makeFile(ann, 50), NOW_MS, 2);
    expect(await store.files.usage(ann)).toEqual({ files: 2, bytes: 100 });
  });

  check("uploads are cancelled, swept, and removed with their account", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const [one, two] = [await startUpload(store, ann), await startUpload(store, ann, { expiresAtMs: NOW_MS + 5_000 })];
    const kept = await startUpload(store, bob, { expiresAtMs: NOW_MS + 5_000 });
    for (const { id } of [one, two, kept]) await store.uploads.addPart(makePart(id), LIMITS);
    expect(await store.uploads.cancel(bob, one.id)).toBe(false);
    expect(await store.uploads.cancel(ann, one.id)).toBe(true);
    expect(await store.uploads.parts(one.id)).toEqual([]);
    expect(await store.uploads.withoutParts([one.id, two.id, "upload_none"])).toEqual([one.id, "upload_none"]);
    expect(await store.uploads.removeExpired(NOW_MS + 199, 10)).toEqual([]);
    expect(await store.uploads.removeExpired(NOW_MS + 200, 10)).toEqual([{ id: one.id, state: "cancelled" }]);
    expect(await store.uploads.get(ann, one.id)).toBeUndefined();
    expect(await store.uploads.removeOfAccount(ann, 10)).toEqual([{ id: two.id, state: "pending" }]);
    expect(await store.files.usage(ann)).toEqual({ files: 0, bytes: 0 });
    expect(await store.files.usage(bob)).toEqual({ files: 0, bytes: 20 });
  });
}
