import type { Hardware } from "../../shared/hardware.ts";
import type { RuntimeReport } from "../../shared/protocol/from-island.ts";
import { read, write } from "./steps/steps.ts";
import { integer, json, key, nullable, since, Table, written, type RowOf } from "./steps/table.ts";
import { forUpdate, inRows, oneOf, selectIds, type Tx } from "./steps/tx.ts";

/** Speed of an Island with one Cargo. */
export interface StoredCurve {
  readonly slug: string;
  /** Numbers that only `coordinator/scheduler/speed-curve.ts` interprets. */
  readonly numbers: readonly number[];
}

/** Hosts of Islands, with their latest report. */
export const islandTable = new Table(
  "islands",
  {
    /** UUID that the agent generated at its first start. */
    hostId: key("PRIMARY KEY"),
    accountId: key("REFERENCES accounts (id)"),
    agentVersion: written(),
    hardware: json<Hardware>(),
    runtimes: json<readonly RuntimeReport[]>(),
    lastSeenAtMs: integer(),
    /** Time of the first session; null for an Island of an earlier version that has not reconnected. */
    firstSeenAtMs: nullable(integer()),
    /** Display name that the owner gave; null for none. */
    name: nullable(written()),
    /** Name of the machine; null if the agent does not report it. */
    hostName: nullable(written()),
    /** Time when the owner removed the Island, after which the row has only its id, account and this time. */
    removedAtMs: nullable(integer()),
    /** Speeds that the scheduler learnt; null before the first job. */
    curves: since(2, nullable(json<readonly StoredCurve[]>())),
  },
  {
    indexes: [
      "CREATE INDEX islands_by_account ON islands (account_id, last_seen_at_ms)",
      { postgres: "CREATE INDEX islands_by_age ON islands (last_seen_at_ms)" },
    ],
  },
);

type IslandRow = RowOf<typeof islandTable>;
export type IslandReport = Omit<IslandRow, "name" | "firstSeenAtMs" | "removedAtMs" | "curves">;
export type IslandRecord = IslandReport & Pick<IslandRow, "name"> & { readonly firstSeenAtMs: number };
/** Maximum number of stored hosts of an account. Beyond it, the host unseen for longest is deleted. */
export const MAX_HOSTS = 1_000;

export const ISLAND_RECORD = `${islandTable.columnsBut("firstSeenAtMs", "removedAtMs", "curves")},
  coalesce(first_seen_at_ms, last_seen_at_ms) AS "firstSeenAtMs"`;
const OWN = "host_id = @hostId AND account_id = @accountId AND removed_at_ms IS NULL";
const OR_UPDATE = `ON CONFLICT (host_id) DO UPDATE SET account_id = excluded.account_id, agent_version = excluded.agent_version,
    host_name = excluded.host_name, hardware = excluded.hardware, runtimes = excluded.runtimes,
    last_seen_at_ms = excluded.last_seen_at_ms, removed_at_ms = NULL,
    first_seen_at_ms = CASE WHEN islands.removed_at_ms IS NULL THEN islands.first_seen_at_ms ELSE excluded.first_seen_at_ms END
  WHERE CASE WHEN islands.account_id = excluded.account_id
    THEN islands.removed_at_ms IS NULL OR islands.removed_at_ms < CAST(@tokenCreatedAtMs AS bigint)
    ELSE islands.removed_at_ms IS NOT NULL END`;

async function getAll(tx: Tx, hostIds: readonly string[]): Promise<IslandRecord[]> {
  const sql = `SELECT ${ISLAND_RECORD} FROM islands WHERE ${oneOf(tx, "host_id", "hostIds")} AND removed_at_ms IS NULL`;
  return islandTable.rows(tx, sql, { hostIds });
}

export const islandSteps = {
  /**
   * Stores the report of an Island and deletes the account's oldest hosts beyond {@link MAX_HOSTS}. Returns
   * `of_another` or `removed`, and changes nothing, if another account has the host or its owner removed it. A removed
   * Island may return with a token created after the removal, or with one of another account.
   */
  save: write(
    async (tx, island: IslandReport, tokenCreatedAtMs: number): Promise<"saved" | "of_another" | "removed"> => {
      const { hostId, accountId } = island;
      await tx.lockAccount(accountId);
      const row = { ...island, firstSeenAtMs: island.lastSeenAtMs, tokenCreatedAtMs };
      if ((await islandTable.insert(tx, row, OR_UPDATE)) === 0) {
        const sql = "SELECT account_id AS id FROM islands WHERE host_id = @hostId";
        const owner = await tx.one<{ id: string }>(sql, { hostId });
        return owner?.id === accountId ? "removed" : "of_another";
      }
      const oldest = `SELECT host_id FROM islands WHERE account_id = @accountId AND host_id <> @hostId
      ORDER BY last_seen_at_ms DESC LIMIT ${MAX_HOSTS} OFFSET ${MAX_HOSTS - 1}`;
      await tx.run(`DELETE FROM islands WHERE host_id ${inRows(tx, oldest)}`, { accountId, hostId });
      return "saved";
    },
  ),

  get: read(async (tx, hostId: string): Promise<IslandRecord | undefined> => (await getAll(tx, [hostId]))[0]),

  /** Returns the known Islands among `hostIds`, in no defined order. */
  getAll: read(getAll),

  ofAccount: read((tx, accountId: string) =>
    tx.all<Pick<IslandRecord, "hostId" | "lastSeenAtMs">>(
      `SELECT ${islandTable.columns("hostId", "lastSeenAtMs")} FROM islands
       WHERE account_id = @accountId AND removed_at_ms IS NULL`,
      { accountId },
    ),
  ),

  /** Sets the display name. Returns false if the account has no such Island. */
  rename: write(async (tx, accountId: string, hostId: string, name: string | null) => {
    const sql = `UPDATE islands SET name = @name WHERE ${OWN}`;
    return (await islandTable.run(tx, sql, { accountId, hostId, name })) === 1;
  }),

  /** Marks an Island as removed and clears its row. Returns false if the account has no such Island. */
  remove: write(async (tx, accountId: string, hostId: string, atMs: number) => {
    const sql = `UPDATE islands SET removed_at_ms = @atMs, name = NULL, host_name = NULL, curves = NULL, agent_version = @agentVersion,
      hardware = '{}', runtimes = '[]' WHERE ${OWN}`;
    return (await islandTable.run(tx, sql, { accountId, hostId, atMs, agentVersion: "" })) === 1;
  }),

  removedOf: read((tx, hostIds: readonly string[]) => {
    const removed = `${oneOf(tx, "host_id", "hostIds")} AND removed_at_ms IS NOT NULL`;
    return selectIds(tx, `SELECT host_id AS id FROM islands WHERE ${removed}`, { hostIds });
  }),

  /** Returns the speeds that were stored for an Island. */
  curvesOf: read(async (tx, hostId: string): Promise<readonly StoredCurve[]> => {
    const sql = `SELECT ${islandTable.columns("curves")} FROM islands WHERE host_id = @hostId AND removed_at_ms IS NULL`;
    return (await islandTable.rows<{ curves: readonly StoredCurve[] | null }>(tx, sql, { hostId }))[0]?.curves ?? [];
  }),

  /** Stores the speeds of Islands. Ignores unknown and removed ones. */
  saveCurves: write(async (tx, islands: readonly { hostId: string; curves: readonly StoredCurve[] }[]) => {
    const sql = "UPDATE islands SET curves = @curves WHERE host_id = @hostId AND removed_at_ms IS NULL";
    // Updates in order of id prevent a deadlock of two coordinators.
    const sorted = islands.toSorted((a, b) => (a.hostId < b.hostId ? -1 : 1));
    // oxlint-disable-next-line no-await-in-loop -- One statement for each Island of a page.
    for (const { hostId, curves } of sorted) await islandTable.run(tx, sql, { hostId, curves });
  }),

  /** Records that the Islands are connected. Ignores unknown ids. */
  touch: write(async (tx, hostIds: readonly string[], atMs: number): Promise<void> => {
    // Locks in order of id prevent a deadlock of two coordinators.
    const due = `SELECT host_id FROM islands WHERE ${oneOf(tx, "host_id", "hostIds")} AND last_seen_at_ms < @atMs
      ORDER BY host_id ${forUpdate(tx)}`;
    await tx.run(`UPDATE islands SET last_seen_at_ms = @atMs WHERE host_id ${inRows(tx, due)}`, { hostIds, atMs });
  }),

  /** Deletes up to `limit` Islands last seen by `seenByMs`, except removed ones. Resolves with their number. */
  forgetUnseen: write((tx, seenByMs: number, limit: number) => {
    const unseen =
      "SELECT host_id FROM islands WHERE last_seen_at_ms <= @seenByMs AND removed_at_ms IS NULL LIMIT @limit";
    return tx.run(`DELETE FROM islands WHERE host_id ${inRows(tx, unseen)}`, { seenByMs, limit });
  }),

  hasAny: read(async (tx) => (await tx.one("SELECT 1 FROM islands LIMIT 1")) !== undefined),
};
