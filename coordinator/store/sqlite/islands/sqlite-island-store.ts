import type Database from "better-sqlite3";
import type { Hardware } from "../../../../shared/hardware.ts";
import type { RuntimeReport } from "../../../../shared/protocol/from-island.ts";
import type { IslandRecord, IslandStore, SaveOutcome } from "../../island-store.ts";
import type { Writer } from "../engine/writer.ts";

type IslandRow = Omit<IslandRecord, "hardware" | "runtimes"> & { readonly hardware: string; readonly runtimes: string };

export class SqliteIslandStore implements IslandStore {
  readonly #writer: Writer;
  readonly #select: Database.Statement<[string], IslandRow>;
  readonly #selectOf: Database.Statement<[string], { hostId: string; lastSeenAtMs: number }>;
  readonly #selectRemoved: Database.Statement<[string], string>;
  readonly #selectAny: Database.Statement<[]>;

  constructor(db: Database.Database, writer: Writer) {
    this.#writer = writer;
    this.#select = db.prepare(
      `SELECT host_id AS hostId, account_id AS accountId, name, host_name AS hostName, agent_version AS agentVersion, hardware,
         runtimes, last_seen_at_ms AS lastSeenAtMs, coalesce(first_seen_at_ms, last_seen_at_ms) AS firstSeenAtMs
       FROM islands WHERE host_id = ? AND removed_at_ms IS NULL`,
    );
    this.#selectOf = db.prepare(
      "SELECT host_id AS hostId, last_seen_at_ms AS lastSeenAtMs FROM islands WHERE account_id = ? AND removed_at_ms IS NULL",
    );
    this.#selectRemoved = db
      .prepare<[string], string>(
        `SELECT host_id FROM islands WHERE host_id IN (SELECT value FROM json_each(?)) AND removed_at_ms IS NOT NULL`,
      )
      .pluck();
    this.#selectAny = db.prepare("SELECT 1 FROM islands LIMIT 1");
  }

  save(
    ...[{ hardware, runtimes, ...island }, tokenCreatedAtMs]: Parameters<IslandStore["save"]>
  ): Promise<SaveOutcome> {
    return this.#writer.run("saveIsland", {
      ...island,
      hardware: JSON.stringify(hardware),
      runtimes: JSON.stringify(runtimes),
      tokenCreatedAtMs,
    });
  }

  async get(hostId: string): Promise<IslandRecord | undefined> {
    const row = this.#select.get(hostId);
    if (row === undefined) return undefined;
    const { hardware, runtimes, ...rest } = row;
    return {
      ...rest,
      hardware: JSON.parse(hardware) as Hardware,
      runtimes: JSON.parse(runtimes) as RuntimeReport[],
    };
  }

  async getAll(hostIds: readonly string[]): Promise<IslandRecord[]> {
    const found = await Promise.all(hostIds.map((hostId) => this.get(hostId)));
    return found.filter((island) => island !== undefined);
  }

  async ofAccount(accountId: string): ReturnType<IslandStore["ofAccount"]> {
    return this.#selectOf.all(accountId);
  }

  rename(accountId: string, hostId: string, name: string | null): Promise<boolean> {
    return this.#writer.run("renameIsland", { accountId, hostId, name });
  }

  remove(accountId: string, hostId: string, atMs: number): Promise<boolean> {
    return this.#writer.run("removeIsland", { accountId, hostId, atMs });
  }

  async removedOf(hostIds: readonly string[]): Promise<string[]> {
    return this.#selectRemoved.all(JSON.stringify(hostIds));
  }

  touch(hostIds: readonly string[], atMs: number): Promise<void> {
    return this.#writer.run("touchIslands", { hostIds, atMs });
  }

  forgetUnseen(seenByMs: number, limit: number): Promise<number> {
    return this.#writer.run("forgetUnseen", { seenByMs, limit });
  }

  async hasAny(): Promise<boolean> {
    return this.#selectAny.get() !== undefined;
  }
}
