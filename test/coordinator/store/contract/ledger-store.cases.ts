import { expect } from "vitest";
import { grantPostings, type LedgerParty, type Posting } from "../../../../coordinator/credits/postings.ts";
import { makeBatch } from "./batch-store.cases.ts";
import {
  balanceOf,
  type Check,
  grant,
  MADE_AT_MS,
  makeAccount,
  makeEnding,
  makeJob,
  runJob,
} from "./store-builders.ts";

const RIGHT = { sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] };

export function describeLedger(check: Check): void {
  check("ledger.post() of a grant increases the account's balance", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 1 });
    await grant(store, accountId, 41);
    expect(await balanceOf(store, accountId)).toBe(42);
    expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 4 });
  });

  check("ledger.post() of a grant to an unknown account rejects with not_found", async (store) => {
    await expect(grant(store, "user_none", 1)).rejects.toMatchObject({ code: "not_found" });
    expect((await store.ledger.verify()).entries).toBe(0);
  });

  check(
    "ledger.post() of a grant works after the network has issued more than a double can represent",
    async (store) => {
      const grantMicro = 2 ** 52 + 1;
      const accountIds = [];
      for (let count = 0; count < 5; count += 1) accountIds.push(await makeAccount(store, { grantMicro }));
      for (const accountId of accountIds) {
        await grant(store, accountId, 1);
        expect(await balanceOf(store, accountId)).toBe(2 ** 52 + 2);
      }
      expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 20 });
    },
  );

  check(
    "ledger.post() of a grant above an account's limit rejects with a message, and changes nothing",
    async (store) => {
      const accountId = await makeAccount(store, { grantMicro: 2 ** 52 });
      await expect(grant(store, accountId, 2 ** 52)).rejects.toMatchObject({
        code: "bad_request",
        message: "This grant would raise the account's balance above 9,007,199,254 credits",
      });
      expect(await balanceOf(store, accountId)).toBe(2 ** 52);
      expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 2 });
    },
  );

  check("an owner's earnings may exceed the limit of grants", async (store) => {
    const ownerId = await makeAccount(store, { grantMicro: Number.MAX_SAFE_INTEGER });
    const job = makeJob(await makeAccount(store));
    await runJob(store, job);
    await store.jobs.end(makeEnding(job, { earning: { accountId: ownerId, micro: 900_001 } }));
    expect(await balanceOf(store, ownerId)).toBe(Number.MAX_SAFE_INTEGER + 900_001);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("a completed job pays the Island's owner, and the network keeps the rest", async (store) => {
    const clientId = await makeAccount(store);
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const job = makeJob(clientId);
    await runJob(store, job);
    expect(await balanceOf(store, clientId)).toBe(9_000_000);
    await store.jobs.end(makeEnding(job, { earning: { accountId: ownerId, micro: 900_000 } }));
    expect(await balanceOf(store, clientId)).toBe(9_000_000);
    expect(await balanceOf(store, ownerId)).toBe(900_000);
    // The first grant and the hold have two entries each. The charge, the earning and the fee have one each.
    expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 7 });
  });

  check("a job that is charged in part releases the rest", async (store) => {
    const clientId = await makeAccount(store);
    const job = makeJob(clientId);
    await runJob(store, job);
    await store.jobs.end(makeEnding(job, { event: "cancel", finishReason: null, chargeMicro: 250_000 }));
    expect(await balanceOf(store, clientId)).toBe(9_750_000);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("a job without a charge releases the whole hold", async (store) => {
    const clientId = await makeAccount(store);
    const job = makeJob(clientId);
    await runJob(store, job);
    await store.jobs.end(makeEnding(job, { event: "fail", finishReason: null, chargeMicro: 0 }));
    expect(await balanceOf(store, clientId)).toBe(10_000_000);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("a client who owns the Island receives the earning", async (store) => {
    const accountId = await makeAccount(store);
    const job = makeJob(accountId);
    await runJob(store, job);
    await store.jobs.end(makeEnding(job, { earning: { accountId, micro: 900_000 } }));
    expect(await balanceOf(store, accountId)).toBe(9_900_000);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("ledger.list() returns the account's movements, newest first, with the balance after each", async (store) => {
    const clientId = await makeAccount(store);
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const [whole, part] = [makeJob(clientId), makeJob(clientId)];
    await runJob(store, whole);
    await store.jobs.end(makeEnding(whole, { earning: { accountId: ownerId, micro: 900_000 } }));
    await runJob(store, part);
    await store.jobs.end(makeEnding(part, { event: "cancel", finishReason: null, chargeMicro: 250_000 }));
    const brief = async (accountId: string) =>
      (await store.ledger.list(accountId, { limit: 100, offset: 0 })).lines.map(
        ({ kind, micro, heldMicro, balanceMicro, jobId, slug }) => [kind, micro, heldMicro, balanceMicro, jobId, slug],
      );
    expect(await brief(clientId)).toEqual([
      ["release", 750_000, -750_000, 8_750_000, part.id, "tiny-chat"],
      ["charge", 0, -250_000, 8_000_000, part.id, "tiny-chat"],
      ["hold", -1_000_000, 1_000_000, 8_000_000, part.id, "tiny-chat"],
      ["charge", 0, -1_000_000, 9_000_000, whole.id, "tiny-chat"],
      ["hold", -1_000_000, 1_000_000, 9_000_000, whole.id, "tiny-chat"],
      ["grant", 10_000_000, 0, 10_000_000, null, null],
    ]);
    expect(await brief(ownerId)).toEqual([["earning", 900_000, 0, 900_000, whole.id, "tiny-chat"]]);
    expect(await brief("user_none")).toEqual([]);
  });

  check("ledger.list() returns pages that match the whole list", async (store) => {
    const accountId = await makeAccount(store);
    for (let i = 0; i < 4; i += 1) {
      const job = makeJob(accountId);
      await runJob(store, job);
      await store.jobs.end(makeEnding(job));
    }
    const { lines, total } = await store.ledger.list(accountId, { limit: 100, offset: 0 });
    expect([lines.length, total]).toEqual([9, 9]);
    const paged = [];
    for (let offset = 0; offset < 12; offset += 2) {
      const page = await store.ledger.list(accountId, { limit: 2, offset });
      expect(page.total).toBe(9);
      paged.push(...page.lines);
    }
    expect(paged).toEqual(lines);
    await expect(store.ledger.list(accountId, { limit: 101, offset: 0 })).rejects.toBeInstanceOf(RangeError);
    await expect(store.ledger.list(accountId, { limit: 1, offset: -1 })).rejects.toBeInstanceOf(RangeError);
  });

  check("ledger.list() returns withdrawn credits as a correction, with the operator's note", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 50 });
    const grant = (micro: number, note: string | null) =>
      store.operators.grant({ accountId, micro, note, atMs: MADE_AT_MS, repeat: null });
    await grant(10, null);
    await grant(-55, "Mistake \u{1F3DD}");
    const { lines } = await store.ledger.list(accountId, { limit: 2, offset: 0 });
    expect(lines).toMatchObject([
      { kind: "correction", micro: -55, heldMicro: 0, balanceMicro: 5, note: "Mistake \u{1F3DD}" },
      { kind: "grant", micro: 10, balanceMicro: 60, note: null },
    ]);
    await expect(grant(-6, "Too much")).rejects.toMatchObject({ code: "insufficient_credits" });
    expect(await store.ledger.verify()).toMatchObject({ ...RIGHT, entries: 6 });
  });

  check("concurrent withdrawals and holds never make a balance negative", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 4_500_000 });
    const takeBack = () =>
      store.operators.grant({ accountId, micro: -1_000_000, note: "Mistake", atMs: MADE_AT_MS, repeat: null });
    const writes = Array.from({ length: 5 }).flatMap(() => [store.jobs.submit(makeJob(accountId)), takeBack()]);
    const refused = (await Promise.allSettled<unknown>(writes)).filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(6);
    for (const each of refused) expect(each).toMatchObject({ reason: { code: "insufficient_credits" } });
    expect(await balanceOf(store, accountId)).toBe(500_000);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("jobs without a price leave no ledger entries", async (store) => {
    const accountId = await makeAccount(store, { grantMicro: 0 });
    const job = makeJob(accountId, { priceMicro: 0 });
    await runJob(store, job);
    await store.jobs.end(makeEnding(job, { chargeMicro: 0 }));
    expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 0 });
  });

  check(
    "jobs.end() refuses a charge above the price or an earning without an owner, and changes nothing",
    async (store) => {
      const accountId = await makeAccount(store);
      const job = makeJob(accountId);
      await runJob(store, job);
      await expect(store.jobs.end(makeEnding(job, { chargeMicro: 1_000_001 }))).rejects.toThrow(/./);
      const { postings } = makeEnding(job);
      await expect(store.jobs.end(makeEnding(job, { chargeMicro: 1_000_001, postings }))).rejects.toThrow(/./);
      const earning = { accountId: "user_none", micro: 1 };
      await expect(store.jobs.end(makeEnding(job, { earning }))).rejects.toThrow(/user_none/);
      expect((await store.jobs.get(job.id))?.state).toBe("running");
      expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 4 });
    },
  );

  check("every write refuses postings that do not sum to zero, and stores nothing", async (store) => {
    const accountId = await makeAccount(store);
    const running = makeJob(accountId);
    await runJob(store, running);
    const created = { id: "user_2", email: "b@example.com", passwordHash: "hash", createdAtMs: MADE_AT_MS };
    const postings = (party: LedgerParty): Posting[] => [
      { party, micro: 2, kind: "grant" },
      { party: "network", micro: -1, kind: "grant" },
    ];
    const client = postings(`client:${accountId}`);
    const [job, batch] = [makeJob(accountId, { postings: client }), makeBatch(accountId, 2, { postings: client })];
    const writes = [
      () => store.ledger.post(client, MADE_AT_MS),
      () => store.accounts.create({ ...created, postings: postings("client:user_2") }),
      () => store.jobs.submit(job),
      () => store.batches.submit(batch),
      () => store.jobs.end(makeEnding(running, { postings: client })),
    ];
    for (const write of writes) await expect(write()).rejects.toThrow(/sum to 0 micro-credits, got 1/);
    expect(await store.accounts.get("user_2")).toBeUndefined();
    expect(await store.jobs.get(job.id)).toBeUndefined();
    expect(await store.batches.get(batch.id)).toBeUndefined();
    expect((await store.jobs.get(running.id))?.state).toBe("running");
    expect(await store.ledger.verify()).toEqual({ ...RIGHT, entries: 4 });
  });

  check("accounts.create() creates no account if its grant is refused", async (store) => {
    const most = grantPostings("user_2", Number.MAX_SAFE_INTEGER);
    const postings = [...most, ...most];
    const account = { id: "user_2", email: "b@example.com", passwordHash: "hash", postings, createdAtMs: MADE_AT_MS };
    await expect(store.accounts.create(account)).rejects.toMatchObject({ code: "bad_request" });
    expect(await store.accounts.get("user_2")).toBeUndefined();
    expect(await store.accounts.getByEmail("b@example.com")).toBeUndefined();
  });
}
