import { expect } from "vitest";
import { openSqliteStore, type SqliteStore } from "../../../coordinator/store/sqlite/sqlite-store.ts";
import type { ManualClock } from "../../support/manual-clock.ts";
import { makeAccount, temporaryFolder } from "../store/contract/store-builders.ts";
import { JobWorld } from "./job-world.ts";

export const GRANT_MICRO = 1_000_000_000;

/** A {@link JobWorld} on a new store, and an account with 1,000 credits. */
export interface OpenedJobWorld {
  readonly store: SqliteStore;
  readonly world: JobWorld;
  readonly accountId: string;
  /** Closes the world, or its replacement, and the store. Fails if a write has failed. */
  close(world: JobWorld): Promise<void>;
}

/** @param feedDelayMs 0: output is stored at once. */
export async function openJobWorld(clock: ManualClock, feedDelayMs = 0): Promise<OpenedJobWorld> {
  const folder = temporaryFolder();
  const store = await openSqliteStore({ path: folder.file("atoll.db"), clock });
  return {
    store,
    accountId: await makeAccount(store, { grantMicro: GRANT_MICRO }),
    world: new JobWorld(store, clock, undefined, feedDelayMs),
    async close(world) {
      await world.settle();
      world.close();
      expect(world.fatal).toEqual([]);
      await store.close();
      folder[Symbol.dispose]();
    },
  };
}
