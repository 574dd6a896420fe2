import { expect } from "vitest";
import { newId } from "../../../../shared/ids.ts";
import type { FileBatchProgress, NewFileBatch } from "../../../../coordinator/store/files/file-batches.ts";
import { type Check, MADE_AT_MS, makeAccount } from "./store-builders.ts";

const NOW_MS = MADE_AT_MS;
const PROGRESS: FileBatchProgress = {
  state: "validating",
  total: 0,
  completed: 0,
  failed: 0,
  errors: [],
  outputFileId: null,
  errorFileId: null,
  inProgressAtMs: null,
  finalizingAtMs: null,
};
const AT_WORK: FileBatchProgress = { ...PROGRESS, state: "in_progress", total: 9, completed: 4 };

export function makeFileBatch(accountId: string): NewFileBatch {
  return {
    id: newId("batch", MADE_AT_MS),
    accountId,
    createdAtMs: MADE_AT_MS,
    expiresAtMs: MADE_AT_MS + 1_000,
    request: {
      endpoint: "/v1/chat/completions",
      inputFileId: "file_1",
      completionWindow: "24h",
      metadata: { run: "\u{1F3DD}\u0000" },
      outputExpiresAfterMs: null,
      apiKey: { number: 3, cargos: ["tiny"], monthlyMicro: 5 },
    },
    progress: PROGRESS,
  };
}

const lease = (ownerId: string, untilMs: number) => ({ ownerId, untilMs });

export function describeFileBatches(check: Check): void {
  check("fileBatches.get() and list() return what add() stored, and only to its account", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const batches = [makeFileBatch(ann), makeFileBatch(ann), makeFileBatch(ann)];
    for (const batch of batches) expect(await store.fileBatches.add(batch, 9)).toBe(true);
    const stored = batches.map((batch) => ({ ...batch, cancellingAtMs: null, endedAtMs: null }));
    const [first, second, third] = stored;
    expect(await store.fileBatches.get(ann, first?.id ?? "")).toEqual(first);
    expect(await store.fileBatches.get(bob, first?.id ?? "")).toBeUndefined();
    expect(await store.fileBatches.list(ann, { afterId: null, limit: 2 })).toEqual([third, second]);
    expect(await store.fileBatches.list(ann, { afterId: second?.id ?? "", limit: 2 })).toEqual([first]);
    expect(await store.fileBatches.list(bob, { afterId: null, limit: 2 })).toEqual([]);
  });

  check("fileBatches.add() refuses more unfinished batches than the limit", async (store) => {
    const ann = await makeAccount(store);
    const batch = makeFileBatch(ann);
    expect(await store.fileBatches.add(batch, 1)).toBe(true);
    expect(await store.fileBatches.add(makeFileBatch(ann), 1)).toBe(false);
    await store.fileBatches.lease(lease("coord_1", NOW_MS + 10), NOW_MS, 9);
    await store.fileBatches.end({ id: batch.id, ownerId: "coord_1" }, PROGRESS, NOW_MS);
    expect(await store.fileBatches.add(makeFileBatch(ann), 1)).toBe(true);
  });

  check(
    "fileBatches.lease() gives a batch to one coordinator until its lease expires or is released",
    async (store) => {
      const ann = await makeAccount(store);
      const { id, ...batch } = makeFileBatch(ann);
      await store.fileBatches.add({ id, ...batch }, 9);
      const take = async (ownerId: string, nowMs: number) =>
        (await store.fileBatches.lease(lease(ownerId, nowMs + 10), nowMs, 9)).map((found) => found.id);
      expect(await take("coord_1", NOW_MS)).toEqual([id]);
      expect(await take("coord_2", NOW_MS + 9)).toEqual([]);
      // The lease was renewed.
      const renewed = await store.fileBatches.save({ id, ...lease("coord_1", NOW_MS + 20) }, AT_WORK);
      expect(renewed).toEqual({ cancellingAtMs: null });
      expect(await take("coord_2", NOW_MS + 19)).toEqual([]);
      expect(await take("coord_2", NOW_MS + 20)).toEqual([id]);
      // The first coordinator detects the adoption with its next write, which changes nothing.
      expect(await store.fileBatches.save({ id, ...lease("coord_1", NOW_MS + 90) }, PROGRESS)).toBeUndefined();
      expect(await store.fileBatches.end({ id, ownerId: "coord_1" }, PROGRESS, NOW_MS)).toBe(false);
      expect((await store.fileBatches.get(ann, id))?.progress).toEqual(AT_WORK);
      await store.fileBatches.release("coord_2");
      expect(await take("coord_1", NOW_MS)).toEqual([id]);
      expect(await store.fileBatches.end({ id, ownerId: "coord_1" }, AT_WORK, NOW_MS + 3)).toBe(true);
      expect((await store.fileBatches.get(ann, id))?.endedAtMs).toBe(NOW_MS + 3);
      expect(await take("coord_2", NOW_MS + 99)).toEqual([]);
    },
  );

  check(
    "fileBatches.cancel() notifies the coordinator that runs the batch, once, and ignores an ended batch",
    async (store) => {
      const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
      const { id, ...batch } = makeFileBatch(ann);
      await store.fileBatches.add({ id, ...batch }, 9);
      await store.fileBatches.lease(lease("coord_1", NOW_MS + 10), NOW_MS, 9);
      expect(await store.fileBatches.cancel(bob, id, NOW_MS)).toBe(false);
      expect(await store.fileBatches.cancel(ann, id, NOW_MS + 1)).toBe(true);
      expect(await store.fileBatches.cancel(ann, id, NOW_MS + 2)).toBe(false);
      const renewed = await store.fileBatches.save({ id, ...lease("coord_1", NOW_MS + 20) }, AT_WORK);
      expect(renewed).toEqual({ cancellingAtMs: NOW_MS + 1 });
      const other = makeFileBatch(ann);
      await store.fileBatches.add(other, 9);
      await store.fileBatches.lease(lease("coord_1", NOW_MS + 10), NOW_MS, 9);
      await store.fileBatches.end({ id: other.id, ownerId: "coord_1" }, PROGRESS, NOW_MS);
      expect(await store.fileBatches.cancel(ann, other.id, NOW_MS)).toBe(false);
    },
  );

  check("fileBatches.removeOfAccount() removes the batches of one account", async (store) => {
    const [ann, bob] = [await makeAccount(store), await makeAccount(store)];
    const [anns, bobs] = [makeFileBatch(ann), makeFileBatch(bob)];
    for (const batch of [anns, bobs]) await store.fileBatches.add(batch, 9);
    await store.fileBatches.removeOfAccount(ann);
    expect(await store.fileBatches.get(ann, anns.id)).toBeUndefined();
    expect(await store.fileBatches.get(bob, bobs.id)).toBeDefined();
  });
}
