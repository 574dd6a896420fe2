import type Database from "better-sqlite3";
import type { Hardware } from "../../../../shared/hardware.ts";
import type { RuntimeReport } from "../../../../shared/protocol/from-island.ts";
import type { IslandRecord, IslandStore } from "../../island-store.ts";
import type { Writer } from "../engine/writer.ts";

type IslandRow = Omit<IslandRecord, "hardware" | "runtimes"> & { readonly hardware: string; readonly runtimes: string };

export class SqliteIslandStore implements IslandStore {
  readonly #writer: Writer;
  readonly #select: Database.Statement<[string], IslandRow>;
  readonly #selectAny: Database.Statement<[]>;

  constructor(db: Database.Database, writer: Writer) {
    this.#writer = writer;
    this.#select = db.prepare(
      `SELECT host_id AS hostId, account_id AS accountId, agent_version AS agentVersion, hardware, runtimes,
         last_seen_at_ms AS lastSeenAtMs FROM islands WHERE host_id = ?`,
    );
    this.#selectAny = db.prepare("SELECT 1 FROM islands LIMIT 1");
  }

  save({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs }: IslandRecord): Promise<boolean> {
    return this.#writer.run("saveIsland", {
      hostId,
      accountId,
      agentVersion,
      hardware: JSON.stringify(hardware),
      runtimes: JSON.stringify(runtimes),
      lastSeenAtMs,
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
