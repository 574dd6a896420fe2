import { expect } from "vitest";
import { NEW_STANDING, NO_EVIDENCE, PROVEN_AFTER } from "../../../../coordinator/credits/standing.ts";
import type { AuditPlan, StandingFilter } from "../../../../coordinator/store/audits.ts";
import type { Store } from "../../../../coordinator/store/store.ts";
import { balanceOf, type Check, MADE_AT_MS, makeAccount, makeEnding, makeJob, runJob } from "./store-builders.ts";

const RIGHT = { sumMicro: 0, unbalancedTransactions: 0, wrongBalances: [], wrongHolds: [] };
const FEE_MICRO = 100_000;
const SUPPORTED = { suspicion: 0, support: 5 };
const SUSPECTED = { suspicion: 12, support: 0 };

/** Ends a job whose earning is held. Resolves with the id of the job. */
export async function endHeld(
  store: Store,
  clientAccountId: string,
  ownerAccountId: string,
  verdict: AuditPlan,
  atMs = MADE_AT_MS + 5_000,
  mayAudit = true,
): Promise<string> {
  const job = makeJob(clientAccountId);
  const { id, priceMicro, slug } = job;
  const earnedMicro = priceMicro - FEE_MICRO;
  const credits = { chargedMicro: priceMicro, earnedMicro };
  await runJob(store, job);
  await store.jobs.end(
    makeEnding(job, {
      atMs,
      earning: { accountId: ownerAccountId, micro: earnedMicro, isHeld: true },
      audit: { ownerAccountId, slug, clientAccountId, ...credits, earning: "held", verdict, mayAudit },
    }),
  );
  return id;
}

/** Ends and audits jobs until the owner is proven. */
async function prove(store: Store, clientId: string, ownerId: string): Promise<void> {
  for (let count = 0; count < PROVEN_AFTER; count += 1) {
    const jobId = await endHeld(store, clientId, ownerId, "due");
    await store.audits.record(jobId, "consistent", [], SUPPORTED, "", MADE_AT_MS);
  }
}

export function describeAudits(check: Check): void {
  check("a held earning is not spendable, and the ledger counts it as held", async (store) => {
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const jobId = await endHeld(store, await makeAccount(store), ownerId, "due");
    expect(await balanceOf(store, ownerId)).toBe(0);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
    expect(await store.audits.due()).toMatchObject([{ jobId, ownerAccountId: ownerId, earnedMicro: 900_000 }]);
  });

  check("an owner is paid with the audit that proves it, and with each later one", async (store) => {
    const [clientId, ownerId] = [
      await makeAccount(store, { grantMicro: 20_000_000 }),
      await makeAccount(store, { grantMicro: 0 }),
    ];
    for (let count = 1; count < PROVEN_AFTER; count += 1) {
      const jobId = await endHeld(store, clientId, ownerId, "due");
      await store.audits.record(jobId, "consistent", [], SUPPORTED, "", MADE_AT_MS);
    }
    expect(await balanceOf(store, ownerId)).toBe(0);
    const last = await endHeld(store, clientId, ownerId, "due");
    const standing = await store.audits.record(last, "consistent", [], SUPPORTED, "", MADE_AT_MS);
    expect(standing).toEqual({ state: "proven", streak: PROVEN_AFTER, evidence: NO_EVIDENCE, reason: null });
    expect(await balanceOf(store, ownerId)).toBe(9_000_000);
    await endHeld(store, clientId, ownerId, "none");
    const later = await endHeld(store, clientId, ownerId, "due");
    expect(await balanceOf(store, ownerId)).toBe(9_000_000);
    await store.audits.record(later, "consistent", [], SUPPORTED, "", MADE_AT_MS);
    expect(await balanceOf(store, ownerId)).toBe(10_800_000);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("a lie returns the whole charge of all held jobs to their clients", async (store) => {
    const [first, second] = [await makeAccount(store), await makeAccount(store)];
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const lie = await endHeld(store, first, ownerId, "due");
    const other = await endHeld(store, second, ownerId, "due");
    const readings = [
      { jobId: "job_read", ownerAccountId: "user_reader", verdict: "inconsistent", surprise: 12.5 },
    ] as const;
    const standing = await store.audits.record(lie, "inconsistent", readings, SUSPECTED, "one word", MADE_AT_MS);
    expect(standing).toEqual({ state: "quarantined", streak: 0, evidence: SUSPECTED, reason: "one word" });
    expect([await balanceOf(store, first), await balanceOf(store, second)]).toEqual([10_000_000, 10_000_000]);
    expect(await balanceOf(store, ownerId)).toBe(0);
    expect(await store.audits.ofJob(lie)).toMatchObject({ verdict: "inconsistent", earning: "refunded", readings });
    expect(await store.audits.ofJob(other)).toMatchObject({ verdict: "due", earning: "refunded" });
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
    const { lines } = await store.ledger.list(first, { limit: 1, offset: 0 });
    expect(lines).toMatchObject([{ kind: "refund", micro: 1_000_000, heldMicro: 0, jobId: lie }]);
  });

  check(
    "a job whose client refused audits pays a new owner once it is proven, and the network after a lie",
    async (store) => {
      const clientId = await makeAccount(store, { grantMicro: 30_000_000 });
      const dayMs = MADE_AT_MS + 86_400_000;
      const [honest, liar] = [await makeAccount(store, { grantMicro: 0 }), await makeAccount(store, { grantMicro: 0 })];
      const paid = await endHeld(store, clientId, honest, "none", MADE_AT_MS, false);
      const forfeited = await endHeld(store, clientId, liar, "none", MADE_AT_MS, false);
      expect(await store.audits.settleHeld(dayMs, dayMs)).toBe(0);
      expect(await store.audits.ofJob(paid)).toMatchObject({ earning: "held", mayAudit: false });
      await prove(store, clientId, honest);
      expect(await balanceOf(store, honest)).toBe((PROVEN_AFTER + 1) * 900_000);
      const before = await balanceOf(store, clientId);
      const lie = await endHeld(store, clientId, liar, "due");
      await store.audits.record(lie, "inconsistent", [], SUSPECTED, "one word", MADE_AT_MS);
      expect([await balanceOf(store, clientId), await balanceOf(store, liar)]).toEqual([before, 0]);
      expect(await store.audits.ofJob(forfeited)).toMatchObject({ earning: "refunded" });
      expect(await store.ledger.verify()).toMatchObject(RIGHT);
    },
  );

  check("an audit is recorded once, and an unclear one only adds evidence", async (store) => {
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const jobId = await endHeld(store, await makeAccount(store), ownerId, "due");
    const standing = await store.audits.record(jobId, "unclear", [], SUPPORTED, "", MADE_AT_MS);
    expect(standing).toEqual({ state: "new", streak: 0, evidence: SUPPORTED, reason: null });
    expect(await store.audits.record(jobId, "inconsistent", [], SUSPECTED, "late", MADE_AT_MS)).toBeUndefined();
    expect(await store.audits.standings(0)).toMatchObject({ standings: [{ standing: { streak: 0 } }] });
    expect(await store.audits.due()).toEqual([]);
    expect(await store.audits.ofJob("job_none")).toBeUndefined();
  });

  check("audits.settleHeld() pays old earnings without audits, and those of proven owners", async (store) => {
    const clientId = await makeAccount(store, { grantMicro: 30_000_000 });
    const [proven, unproven] = [
      await makeAccount(store, { grantMicro: 0 }),
      await makeAccount(store, { grantMicro: 0 }),
    ];
    await prove(store, clientId, proven);
    const dayMs = MADE_AT_MS + 86_400_000;
    await endHeld(store, clientId, proven, "none", dayMs);
    await endHeld(store, clientId, proven, "none", dayMs + 1);
    await endHeld(store, clientId, unproven, "due", dayMs);
    expect(await store.audits.settleHeld(dayMs + 1, dayMs)).toBe(1);
    expect(await store.audits.settleHeld(dayMs + 1, dayMs)).toBe(0);
    expect([await balanceOf(store, proven), await balanceOf(store, unproven)]).toEqual([9_900_000, 0]);
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("credits that deleted accounts get after their deletion go to the network", async (store) => {
    const clientId = await makeAccount(store);
    const [owner, liar] = [await makeAccount(store, { grantMicro: 0 }), await makeAccount(store, { grantMicro: 0 })];
    const jobId = await endHeld(store, clientId, owner, "due");
    await endHeld(store, clientId, liar, "due");
    await store.audits.record(jobId, "consistent", [], SUPPORTED, "", MADE_AT_MS);
    for (const id of [clientId, owner]) await store.accounts.delete(id, MADE_AT_MS);
    const laterMs = MADE_AT_MS + 5_001;
    expect(await store.audits.settleHeld(MADE_AT_MS, laterMs)).toBe(0);
    expect(await store.audits.settleHeld(laterMs, laterMs)).toBe(1);
    const lie = { ...NEW_STANDING, state: "quarantined" } as const;
    await store.audits.set({ ownerAccountId: liar, slug: makeJob(clientId).slug, standing: lie }, laterMs);
    for (const id of [clientId, owner]) {
      const { lines } = await store.ledger.list(id, { limit: 10, offset: 0 });
      expect(lines.reduce((sum, { micro }) => sum + micro, 0)).toBe(0);
    }
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("audits.again() makes audits due, and each job counts once", async (store) => {
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const jobId = await endHeld(store, await makeAccount(store), ownerId, "none");
    expect(await store.audits.again([jobId, "job_none"])).toBe(true);
    expect(await store.audits.again([jobId])).toBe(false);
    expect(await store.audits.due()).toMatchObject([{ jobId }]);
    const good = { jobId: "job_1", ownerAccountId: "user_reader", verdict: "consistent", surprise: 0.1 } as const;
    expect(await store.audits.record(jobId, "consistent", [good], SUPPORTED, "", MADE_AT_MS)).toMatchObject({
      streak: 1,
    });
    await store.audits.again([jobId]);
    expect(await store.audits.record(jobId, "consistent", [good], SUPPORTED, "", MADE_AT_MS)).toMatchObject({
      streak: 1,
    });
    await store.audits.again([jobId]);
    const bad = { ...good, verdict: "inconsistent" } as const;
    const standing = await store.audits.record(jobId, "inconsistent", [bad, bad], SUSPECTED, "a lie", MADE_AT_MS);
    expect(standing).toMatchObject({ state: "quarantined", reason: "a lie" });
    const stored = await store.audits.ofJob(jobId);
    expect(stored).toMatchObject({ verdict: "inconsistent", earning: "refunded", readings: [good, good, bad, bad] });
  });

  check("audits.ofOwner() returns standings, held earnings and audits by Cargo", async (store) => {
    const [clientId, ownerId] = [await makeAccount(store), await makeAccount(store, { grantMicro: 0 })];
    expect(await store.audits.ofOwner(ownerId)).toEqual([]);
    await endHeld(store, clientId, ownerId, "none");
    const none = { consistent: 0, inconsistent: 0, unclear: 0 };
    const fresh = { slug: "tiny-chat", standing: NEW_STANDING, heldMicro: 900_000, audits: none };
    expect(await store.audits.ofOwner(ownerId)).toEqual([fresh]);
    for (const verdict of ["consistent", "unclear", "consistent"] as const) {
      await store.audits.record(
        await endHeld(store, clientId, ownerId, "due"),
        verdict,
        [],
        NO_EVIDENCE,
        "",
        MADE_AT_MS,
      );
    }
    const standing = { ...NEW_STANDING, state: "trusted", reason: "a friend" } as const;
    await store.audits.set({ ownerAccountId: ownerId, slug: "base64", standing }, MADE_AT_MS);
    expect(await store.audits.ofOwner(ownerId)).toEqual([
      { slug: "base64", standing, heldMicro: 0, audits: none },
      {
        slug: "tiny-chat",
        standing: { ...NEW_STANDING, streak: 2 },
        heldMicro: 3_600_000,
        audits: { consistent: 2, inconsistent: 0, unclear: 1 },
      },
    ]);
  });

  check("audits.list() returns stored standings, the latest change first", async (store) => {
    const [first, second] = [await makeAccount(store), await makeAccount(store)];
    const trusted = { ...NEW_STANDING, state: "trusted", reason: "a friend" } as const;
    const bad = { ...NEW_STANDING, state: "quarantined", reason: "a lie" } as const;
    await store.audits.set({ ownerAccountId: first, slug: "tiny-chat", standing: trusted }, MADE_AT_MS);
    await store.audits.set({ ownerAccountId: second, slug: "tiny-chat", standing: bad }, MADE_AT_MS + 1);
    await store.audits.set({ ownerAccountId: first, slug: "base64", standing: bad }, MADE_AT_MS + 2);
    const list = async (filter: StandingFilter, page = { limit: 10, offset: 0 }) => {
      const { standings, total } = await store.audits.list(filter, page);
      return { total, found: standings.map(({ ownerAccountId, slug }) => [ownerAccountId, slug]) };
    };
    const [newest, middle, oldest] = [
      [first, "base64"],
      [second, "tiny-chat"],
      [first, "tiny-chat"],
    ];
    expect(await list({})).toEqual({ total: 3, found: [newest, middle, oldest] });
    expect(await list({}, { limit: 1, offset: 1 })).toEqual({ total: 3, found: [middle] });
    expect(await list({ accountId: first })).toEqual({ total: 2, found: [newest, oldest] });
    expect(await list({ state: "quarantined" })).toEqual({ total: 2, found: [newest, middle] });
    expect(await list({ slug: "tiny-chat", state: "trusted" })).toEqual({ total: 1, found: [oldest] });
    const email = (await store.accounts.get(second))?.email;
    const { standings } = await store.audits.list({ accountId: second }, { limit: 1, offset: 0 });
    expect(standings).toEqual([
      { ownerAccountId: second, slug: "tiny-chat", standing: bad, changedAtMs: MADE_AT_MS + 1, email },
    ]);
  });

  check("audits.ofIsland() returns the latest jobs of an Island that have a row", async (store) => {
    const [clientId, ownerId] = [await makeAccount(store), await makeAccount(store, { grantMicro: 0 })];
    const ids = [await endHeld(store, clientId, ownerId, "none"), await endHeld(store, clientId, ownerId, "none")];
    const { islandId } = (await store.jobs.get(ids[0] ?? "")) ?? {};
    expect(await store.audits.ofIsland(islandId ?? "", 10)).toEqual(ids.toReversed());
    expect(await store.audits.ofIsland(islandId ?? "", 1)).toEqual([ids[1]]);
    expect(await store.audits.ofIsland("none", 10)).toEqual([]);
  });

  check("audits.settleHeld() settles jobs that ended after an owner was trusted or quarantined", async (store) => {
    const clientId = await makeAccount(store);
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const { slug } = makeJob(clientId);
    for (const [state, balances] of [
      ["quarantined", [10_000_000, 0]],
      ["trusted", [9_000_000, 900_000]],
    ] as const) {
      const standing = { ...NEW_STANDING, state };
      await store.audits.set({ ownerAccountId: ownerId, slug, standing }, MADE_AT_MS);
      await endHeld(store, clientId, ownerId, "due");
      expect(await store.audits.settleHeld(0, MADE_AT_MS)).toBe(1);
      expect([await balanceOf(store, clientId), await balanceOf(store, ownerId)]).toEqual(balances);
    }
    expect(await store.ledger.verify()).toMatchObject(RIGHT);
  });

  check("audits.set() moves held earnings by the new standing", async (store) => {
    const ownerId = await makeAccount(store, { grantMicro: 0 });
    const jobId = await endHeld(store, await makeAccount(store), ownerId, "due");
    const { slug } = (await store.audits.ofJob(jobId)) ?? { slug: "" };
    const standing = { ...NEW_STANDING, state: "trusted", reason: "known in person" } as const;
    await store.audits.set({ ownerAccountId: ownerId, slug, standing }, MADE_AT_MS);
    expect(await balanceOf(store, ownerId)).toBe(900_000);
    expect(await store.audits.standings(MADE_AT_MS)).toMatchObject({
      standings: [{ ownerAccountId: ownerId, standing }],
    });
    expect(await store.audits.standings(MADE_AT_MS + 1)).toMatchObject({ standings: [] });
    await store.audits.record(jobId, "inconsistent", [], SUSPECTED, "a lie", MADE_AT_MS);
    expect(await store.audits.standings(0)).toMatchObject({ standings: [{ standing }] });
  });
}
