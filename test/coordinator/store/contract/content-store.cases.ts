import { expect } from "vitest";
import type { ContentPart, RemovalSubject } from "../../../../coordinator/store/jobs/content.ts";
import { type Check, completeJob, makeAccount, makeEnding, makeJob, MADE_AT_MS, runJob } from "./store-builders.ts";

const BOTH = { parts: ["input", "output"], withMessages: true, atMs: MADE_AT_MS + 9 } as const;

export function describeContent(check: Check): void {
  check(
    "content.remove() removes the parts of ended jobs, keeps their facts, and changes nothing when repeated",
    async (store) => {
      const accountId = await makeAccount(store);
      const jobId = await completeJob(store, accountId);
      const before = await store.jobs.get(jobId);
      expect(await store.content.remove([jobId], { ...BOTH, parts: ["input"] })).toBe(1);
      expect(await store.jobs.get(jobId)).toEqual({ ...before, input: {}, inputRemovedAtMs: BOTH.atMs });
      expect((await store.jobs.list(accountId, { limit: 1, offset: 0 }, {})).jobs[0]?.input).toEqual({});
      expect(await store.content.remove([jobId], BOTH)).toBe(1);
      expect(await store.content.remove([jobId, "job_none"], { ...BOTH, atMs: MADE_AT_MS + 99 })).toBe(2);
      const removed = { input: {}, output: undefined, inputRemovedAtMs: BOTH.atMs, outputRemovedAtMs: BOTH.atMs };
      expect(await store.jobs.get(jobId)).toEqual({ ...before, ...removed });
      expect(await store.jobs.feed(jobId)).toEqual([]);
    },
  );

  check("content.remove() never touches a job that has not ended", async (store) => {
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    await store.content.remove([job.id], BOTH);
    expect(await store.jobs.get(job.id)).toMatchObject({ input: job.input, inputRemovedAtMs: null });
  });

  check("content.finish() ends a removal once nothing of its subject is unfinished", async (store) => {
    const accountId = await makeAccount(store);
    const [ended, running] = [await completeJob(store, accountId), makeJob(accountId)];
    await runJob(store, running);
    const subject: RemovalSubject = { kind: "account", id: accountId };
    await store.content.begin(subject, MADE_AT_MS);
    await store.content.begin(subject, MADE_AT_MS + 1);
    expect(await store.content.inFlight()).toEqual([subject]);
    expect(await store.content.jobsOf(subject, "", 10)).toEqual([ended]);
    expect(await store.content.jobsOf(subject, ended, 10)).toEqual([]);
    expect(await store.content.finish(subject, MADE_AT_MS)).toBe(false);
    await store.jobs.end(makeEnding(running));
    expect(await store.content.finish(subject, MADE_AT_MS)).toBe(true);
    expect(await store.content.inFlight()).toEqual([]);
    // The rest of the credits went back.
    expect((await store.accounts.get(accountId))?.balanceMicro).toBe(0);
    expect((await store.ledger.verify()).wrongBalances).toEqual([]);
  });

  check("content.expired() names jobs that ended by then and have the part, some at a time", async (store) => {
    const accountId = await makeAccount(store);
    const jobIds = [
      await completeJob(store, accountId),
      await completeJob(store, accountId),
      await completeJob(store, accountId),
    ];
    const endedMs = MADE_AT_MS + 5_000;
    const expired = async (part: ContentPart, endedByMs: number, limit: number) =>
      (await store.content.expired(part, { sinceMs: 0, endedByMs }, limit)).map(({ id }) => id);
    expect(await expired("output", endedMs - 1, 10)).toEqual([]);
    expect(await expired("output", endedMs, 2)).toEqual(jobIds.slice(0, 2));
    await store.content.remove(jobIds.slice(0, 2), { ...BOTH, parts: ["output"] });
    expect(await expired("output", endedMs, 2)).toEqual(jobIds.slice(2));
    expect(await expired("input", endedMs, 10)).toEqual(jobIds);
  });

  check(
    "content.remove() that had to stop hides the whole output, and is under way until it is done",
    async (store) => {
      const job = makeJob(await makeAccount(store));
      await runJob(store, job);
      const items = [{ type: "image" as const, data: "x".repeat(2_000_000), format: "png" }];
      for (const seq of [1, 2, 3]) await store.jobs.appendFeed({ jobId: job.id, attempt: 1, seq, items });
      await store.jobs.end(makeEnding(job, { output: "a" }));
      expect(await store.content.remove([job.id], BOTH)).toBe(0);
      expect(await store.jobs.get(job.id)).toMatchObject({ outputRemovedAtMs: BOTH.atMs });
      expect(await store.content.inFlight()).toEqual([{ kind: "output", id: job.id }]);
      expect(await store.content.remove([job.id], BOTH)).toBe(1);
      expect(await store.content.inFlight()).toEqual([]);
      expect(await store.jobs.feed(job.id)).toEqual([]);
    },
  );

  check("accounts.delete() ends every credential, frees the address, and begins the removal", async (store) => {
    const accountId = await makeAccount(store, { email: "ada@example.com" });
    const secretHash = "hash-of-key";
    const cap = { maxKeys: 50, revokedAfterMs: 0 };
    const key = { id: "key_1", accountId, name: "k", prefix: "ak_", scopes: ["read" as const], createdAtMs: 1 };
    await store.accounts.createKey({ ...key, secretHash }, cap);
    await store.accounts.createReset({ accountId, tokenHash: "r", expiresAtMs: 99, nowMs: 1, maxResets: 3 });
    expect(await store.accounts.delete(accountId, MADE_AT_MS)).toBe(true);
    expect(await store.accounts.delete(accountId, MADE_AT_MS)).toBe(false);
    expect(await store.accounts.findKey(secretHash)).toBeUndefined();
    expect(await store.accounts.useReset({ tokenHash: "r", passwordHash: "p", nowMs: 1 })).toBe(false);
    expect([await store.accounts.get(accountId), await store.accounts.getByEmail("ada@example.com")]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.content.inFlight()).toEqual([{ kind: "account", id: accountId }]);
    await makeAccount(store, { email: "ada@example.com" });
  });
}
