import {
  afterVerdict,
  type Evidence,
  NEW_STANDING,
  type Standing,
  type StandingState,
  type Verdict,
} from "../credits/standing.ts";
import { forfeitPostings, payPostings, type Posting, refundPostings, returnPostings } from "../credits/postings.ts";
import { adoptRows } from "./work-division.ts";
import { readList, type Page } from "./steps/page.ts";
import { kept, pageRead, read, write } from "./steps/steps.ts";
import { flag, integer, json, key, named, onlyIn, since, Table, text, type RowOf } from "./steps/table.ts";
import {
  forUpdate,
  skipLocked,
  inRows,
  isOwn,
  jsonMember,
  oneOf,
  selectIds,
  type Tx,
  type Values,
} from "./steps/tx.ts";

/** What one reader found. `surprise`: the z value of the answer; null if it was not measured. */
export interface Reading {
  readonly jobId: string;
  readonly ownerAccountId: string;
  readonly verdict: Verdict;
  readonly surprise: number | null;
}

/** Ended jobs of owners who are not trusted: what they earned, and what an audit found. */
export const auditTable = new Table(
  "audits",
  {
    jobId: named("id", key("PRIMARY KEY")),
    /** Owner of the Island that did the work; its standing with the Cargo counts. */
    ownerAccountId: key(),
    slug: key(),
    clientAccountId: key(),
    endedAtMs: integer(),
    chargedMicro: integer("CHECK (charged_micro >= 0)"),
    earnedMicro: integer("CHECK (earned_micro BETWEEN 0 AND charged_micro)"),
    /**
     * `held`: the owner does not have the earning yet. `refunded`: the client got the whole charge back, or the network
     * got the earning if the client refused audits.
     */
    earning: text<"held" | "paid" | "refunded">("CHECK (earning IN ('held', 'paid', 'refunded'))"),
    /** `none`: the job was not chosen for an audit. `due`: its audit has not ended. */
    verdict: text<Verdict | "none" | "due">(
      "CHECK (verdict IN ('none', 'due', 'consistent', 'inconsistent', 'unclear'))",
    ),
    /** Readings of all audits of the job, in their order. */
    readings: json<readonly Reading[]>("DEFAULT '[]'"),
    /** Id of the coordinator that audits the job. */
    auditorId: onlyIn("postgres", key("DEFAULT ''")),
    /** False if the client refused that other Islands read the answer. */
    mayAudit: since(4, flag({ sqlite: "DEFAULT 1", postgres: "DEFAULT true" })),
  },
  {
    since: 3,
    indexes: [
      {
        sqlite: "CREATE INDEX audits_due ON audits (id) WHERE verdict = 'due'",
        postgres: "CREATE INDEX audits_due ON audits (auditor_id, id) WHERE verdict = 'due'",
      },
      "CREATE INDEX audits_held ON audits (owner_account_id, slug, ended_at_ms) WHERE earning = 'held'",
      "CREATE INDEX audits_judged ON audits (owner_account_id, slug, verdict) WHERE verdict IN ('consistent', 'inconsistent', 'unclear')",
    ],
  },
);
/** Columns that the end of a job sets, besides its id and time. */
export const NEW_AUDIT_COLUMNS = [
  "ownerAccountId",
  "slug",
  "clientAccountId",
  "chargedMicro",
  "earnedMicro",
  "earning",
  "verdict",
  "mayAudit",
] as const satisfies readonly (keyof RowOf<typeof auditTable>)[];
/**
 * What happens with the earning of a job. `due`: it is held, and the job is audited. `none`: it is held for a day.
 * `unclear`: it is held until the owner is proven.
 */
export type AuditPlan = "due" | "none" | "unclear";
export type NewAudit = Pick<RowOf<typeof auditTable>, (typeof NEW_AUDIT_COLUMNS)[number]>;
export type Audit = Omit<RowOf<typeof auditTable>, "auditorId">;

/** Standing of each owner with each Cargo. Owners without a row are new. */
export const standingTable = new Table(
  "standings",
  { ownerAccountId: key(), slug: key(), standing: json<Standing>(), changedAtMs: integer() },
  { since: 3, rules: ["PRIMARY KEY (owner_account_id, slug)"] },
);
export type StoredStanding = Pick<RowOf<typeof standingTable>, "ownerAccountId" | "slug" | "standing">;

/** A stored standing, for operators. */
export interface KnownStanding extends RowOf<typeof standingTable> {
  /** E-mail address of the owner; null for a deleted account. */
  readonly email: string | null;
}

export interface StandingFilter {
  readonly accountId?: string | undefined;
  readonly slug?: string | undefined;
  readonly state?: StandingState | undefined;
}

/** The standing of an owner with a Cargo, its held earnings, and the audits that ended. */
export interface OwnStanding {
  readonly slug: string;
  readonly standing: Standing;
  readonly heldMicro: number;
  readonly audits: Readonly<Record<Verdict, number>>;
}

/** Maximum number of Cargos for which the standings of an owner are shown. */
export const MAX_OWN_STANDINGS = 100;
/** Number of the latest audits among which those of an Island are searched. */
const MAX_SEARCHED = 100_000;

/** Maximum number of earnings that one write moves. `settleHeld` moves the rest. */
export const SETTLED_TOGETHER = 500;

const AUDIT = `SELECT ${auditTable.columnsBut("auditorId")} FROM audits`;
const OF_STANDING = "owner_account_id = @ownerAccountId AND slug = @slug";
const isOwnDue = (tx: Tx): string => `verdict = 'due' AND ${isOwn(tx, "auditor_id")}`;
const due = (tx: Tx): Promise<Audit[]> => auditTable.rows<Audit>(tx, `${AUDIT} WHERE ${isOwnDue(tx)} ORDER BY id`);

/** Returns a standing, in a transaction that has locked the owner's account. */
async function standingOf(tx: Tx, owner: Pick<StoredStanding, "ownerAccountId" | "slug">): Promise<Standing> {
  const sql = `SELECT standing FROM standings WHERE ${OF_STANDING}`;
  return (await standingTable.row<{ standing: Standing }>(tx, sql, owner))?.standing ?? NEW_STANDING;
}

async function saveStanding(tx: Tx, stored: StoredStanding, atMs: number): Promise<void> {
  const replace = `ON CONFLICT (owner_account_id, slug) DO UPDATE
    SET standing = excluded.standing, changed_at_ms = excluded.changed_at_ms`;
  await standingTable.insert(tx, { ...stored, changedAtMs: atMs }, replace);
}

/** Pays the owner's held earnings if it is proven or trusted, and refunds its clients if it is quarantined. */
async function moveEarnings(tx: Tx, { ownerAccountId, slug, standing }: StoredStanding, atMs: number): Promise<void> {
  if (standing.state === "new") return;
  const earning = standing.state === "quarantined" ? "refunded" : "paid";
  await settle(tx, OF_STANDING, earning, { ownerAccountId, slug }, atMs);
}

/** Settles held earnings, at most {@link SETTLED_TOGETHER}. Returns their number. */
async function settle(
  tx: Tx,
  condition: string,
  earning: "paid" | "refunded",
  values: Values,
  atMs: number,
): Promise<number> {
  // Rows that another coordinator settles now are left to it. Waiting for them led to deadlocks.
  const found = `SELECT id FROM audits WHERE earning = 'held' AND ${condition} LIMIT ${SETTLED_TOGETHER} ${skipLocked(tx)}`;
  const sql = `UPDATE audits SET earning = @earning WHERE id ${inRows(tx, found)} AND earning = 'held'
    RETURNING ${auditTable.columnsBut("auditorId")}`;
  const moved = await auditTable.rows<Audit>(tx, sql, { ...values, earning });
  for (const audit of moved) {
    // oxlint-disable-next-line no-await-in-loop -- Each job is a movement of its own in the ledger.
    await tx.post(postingsOf(audit), atMs, null, audit.jobId);
  }
  const receivers = moved.map(({ ownerAccountId, clientAccountId }) =>
    earning === "paid" ? ownerAccountId : clientAccountId,
  );
  await returnFromDeleted(tx, [...new Set(receivers)], atMs);
  return moved.length;
}

/** Returns credits to the network that accounts received after their deletion. */
async function returnFromDeleted(tx: Tx, accountIds: readonly string[], atMs: number): Promise<void> {
  if (accountIds.length === 0) return;
  const sql = `SELECT id FROM accounts WHERE ${oneOf(tx, "id", "accountIds")} AND deleted_at_ms IS NOT NULL`;
  for (const id of await selectIds(tx, sql, { accountIds })) {
    // oxlint-disable-next-line no-await-in-loop -- Each balance is a movement of its own in the ledger.
    await tx.post(returnPostings(id, await tx.balanceOf(`client:${id}`)), atMs);
  }
}

function postingsOf(audit: Audit): Posting[] {
  if (audit.earning === "paid") return payPostings(audit);
  return audit.mayAudit ? refundPostings(audit) : forfeitPostings(audit);
}

export const auditSteps = {
  ofJob: read((tx, jobId: string) => auditTable.row<Audit>(tx, `${AUDIT} WHERE id = @jobId`, { jobId })),

  /** Returns the standings of an owner by Cargo, sorted by slug: stored ones, and those with held earnings. */
  ofOwner: pageRead(async (tx, ownerAccountId: string): Promise<OwnStanding[]> => {
    const owner = { ownerAccountId };
    const stored = await standingTable.rows<Pick<StoredStanding, "slug" | "standing">>(
      tx,
      `SELECT ${standingTable.columns("slug", "standing")} FROM standings WHERE owner_account_id = @ownerAccountId`,
      owner,
    );
    const held = await tx.all<{ slug: string; micro: number }>(
      `SELECT slug, CAST(sum(earned_micro) AS bigint) AS micro FROM audits
       WHERE owner_account_id = @ownerAccountId AND earning = 'held' GROUP BY slug`,
      owner,
    );
    const judged = await tx.all<{ slug: string; verdict: Verdict; count: number }>(
      `SELECT slug, verdict, count(*) AS count FROM audits WHERE owner_account_id = @ownerAccountId
       AND verdict IN ('consistent', 'inconsistent', 'unclear') GROUP BY slug, verdict`,
      owner,
    );
    const slugs = [...new Set([...stored, ...held].map(({ slug }) => slug))].toSorted().slice(0, MAX_OWN_STANDINGS);
    return slugs.map((slug) => {
      const count = (verdict: Verdict): number =>
        judged.find((each) => each.slug === slug && each.verdict === verdict)?.count ?? 0;
      return {
        slug,
        standing: stored.find((each) => each.slug === slug)?.standing ?? NEW_STANDING,
        heldMicro: held.find((each) => each.slug === slug)?.micro ?? 0,
        audits: {
          consistent: count("consistent"),
          inconsistent: count("inconsistent"),
          unclear: count("unclear"),
        },
      };
    });
  }),

  /** Returns a page of stored standings, the latest change first. `total` counts all pages. */
  list: pageRead(async (tx, filter: StandingFilter, page: Page) => {
    const where = [
      filter.accountId !== undefined && "owner_account_id = @accountId",
      filter.slug !== undefined && "slug = @slug",
      filter.state !== undefined && `${jsonMember(tx, "standing", "state")} = @state`,
    ];
    const select = `SELECT ${standingTable.all},
      (SELECT email FROM accounts WHERE accounts.id = owner_account_id) AS email FROM standings`;
    const key = "owner_account_id || '/' || slug";
    const order = "changed_at_ms DESC, owner_account_id, slug";
    const list = { select, from: "standings", key, where, order };
    const { rows, total } = await readList<KnownStanding>(tx, list, filter, page);
    return { standings: rows.map((row) => standingTable.decode(row, tx.dialect)), total };
  }),

  /** Returns the ids of the latest jobs of an Island that have a row, newest first. */
  ofIsland: pageRead((tx, hostId: string, limit: number) => {
    const sql = `SELECT latest.id FROM (SELECT id FROM audits ORDER BY id DESC LIMIT ${MAX_SEARCHED}) AS latest
      JOIN jobs ON jobs.id = latest.id WHERE jobs.island_id = @hostId ORDER BY latest.id DESC LIMIT @limit`;
    return selectIds(tx, sql, { hostId, limit });
  }),

  /** Lets this coordinator audit jobs again, or for the first time. Returns false if all these audits are due already. */
  again: write(async (tx, jobIds: readonly string[]): Promise<boolean> => {
    const owner = tx.dialect === "sqlite" ? "" : ", auditor_id = @selfId";
    const sql = `UPDATE audits SET verdict = 'due'${owner} WHERE ${oneOf(tx, "id", "jobIds")} AND verdict <> 'due'`;
    return (await tx.run(sql, { jobIds })) > 0;
  }),

  /** Returns the audits that this coordinator has to make. */
  due: kept(read(due)),

  /** Adopts the audits of dead coordinators. Resolves with all that this coordinator has to make. */
  adopt: read(async (tx) => {
    await adoptRows(tx, "audits", "auditor_id", "verdict = 'due'");
    return due(tx);
  }),

  /** Returns the standings that changed since a time, and all operators. */
  standings: read(async (tx, sinceMs: number) => {
    const sql = `SELECT ${standingTable.columnsBut("changedAtMs")} FROM standings WHERE changed_at_ms >= @sinceMs`;
    const standings = await standingTable.rows<StoredStanding>(tx, sql, { sinceMs });
    return { standings, operatorIds: await selectIds(tx, "SELECT id FROM accounts WHERE role <> 'user'", {}) };
  }),

  /**
   * Settles held earnings that no audit decides, some at a time. Returns their number. Pays trusted owners and
   * operators; of jobs that ended before a time also proven owners, and new ones for answers that were not chosen for an
   * audit, unless their clients refused audits. Old earnings of deleted owners go to the network. Refunds the clients of
   * quarantined owners.
   */
  settleHeld: write(async (tx, beforeMs: number, atMs: number): Promise<number> => {
    const state = `coalesce((SELECT ${jsonMember(tx, "standing", "state")} FROM standings
      WHERE standings.owner_account_id = audits.owner_account_id AND standings.slug = audits.slug), 'new')`;
    const isOwner = (is: string): string =>
      `EXISTS (SELECT 1 FROM accounts WHERE accounts.id = owner_account_id AND ${is})`;
    const yes = tx.dialect === "sqlite" ? "1" : "true";
    const isFree = `((verdict = 'none' AND may_audit = ${yes}) OR ${isOwner("deleted_at_ms IS NOT NULL")})`;
    const isPaid = `(${state} = 'trusted' OR ${isOwner("role <> 'user'")} OR (ended_at_ms < @beforeMs
      AND (${state} = 'proven' OR (${state} = 'new' AND ${isFree}))))`;
    const paid = await settle(tx, isPaid, "paid", { beforeMs }, atMs);
    const refunded = await settle(tx, `${state} = 'quarantined'`, "refunded", {}, atMs);
    return paid + refunded;
  }),

  /**
   * Stores the verdict on a job and the owner's standing after it. Pays the owner's held earnings once it is proven, and
   * refunds its clients once it is quarantined. A repeated audit changes the standing only if it finds a lie, because
   * each job counts once. Returns the standing; undefined if the job has a verdict already.
   */
  record: kept(
    write(
      async (
        tx,
        jobId: string,
        verdict: Verdict,
        readings: readonly Reading[],
        evidence: Evidence,
        reason: string,
        atMs: number,
      ): Promise<Standing | undefined> => {
        const isDue = `id = @jobId AND ${isOwnDue(tx)}`;
        const columns = auditTable.columns("ownerAccountId", "slug", "readings");
        const sql = `SELECT ${columns} FROM audits WHERE ${isDue} ${forUpdate(tx)}`;
        const found = await auditTable.row<Pick<Audit, "ownerAccountId" | "slug" | "readings">>(tx, sql, { jobId });
        if (found === undefined) return undefined;
        const { readings: earlier, ...owner } = found;
        const update = `UPDATE audits SET verdict = @verdict, readings = @readings WHERE ${isDue}`;
        await auditTable.run(tx, update, { jobId, verdict, readings: [...earlier, ...readings] });
        await tx.lockAccount(owner.ownerAccountId);
        const before = await standingOf(tx, owner);
        // A repeated audit reads the same answer, so only an alarm counts.
        if (earlier.length > 0 && verdict !== "inconsistent") return before;
        const standing = afterVerdict(before, verdict, evidence, reason, readings.length > 0);
        const stored = { ...owner, standing };
        if (standing !== before) await saveStanding(tx, stored, atMs);
        if (verdict !== "unclear") await moveEarnings(tx, stored, atMs);
        return standing;
      },
    ),
  ),

  /** Sets the standing of an owner, as an operator decides. */
  set: write(async (tx, stored: StoredStanding, atMs: number) => {
    await tx.lockAccount(stored.ownerAccountId);
    await saveStanding(tx, stored, atMs);
    await moveEarnings(tx, stored, atMs);
  }),
};
