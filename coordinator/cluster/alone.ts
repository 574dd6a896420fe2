import type { ClusterStore } from "../store/cluster-store.ts";

/** What a coordinator knows by storage of its network: who lives, and whose an unfinished job is. */
export type Cluster = Omit<ClusterStore, "credentialChanges" | "noteReturn" | "places">;

/** A network of one. Every unfinished job is in its coordinator's memory, so that storage is not asked, and nobody waits for a lease. */
export function networkOfOne(selfId: string, clock: { now(): number }): Cluster {
  let sessions = 0;
  return {
    selfId,
    takenOver: { adopted: 0, claimed: 0, reaped: 0 },
    islandSessions: { nextNumber: async () => (sessions += 1) },
    renew: async () => true,
    peers: async () => [],
    reap: async () => 0,
    adopt: async () => [],
    leave: async () => undefined,
    transfer: async () => [],
    claim: async () => undefined,
    owned: async () => [],
    ownedIds: async () => [],
    ownerOf: async () => undefined,
    ownersOf: async () => new Map(),
    nowMs: async () => clock.now(),
    onReturn: () => () => undefined,
  };
}
