import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { listedIsland, SEEN_LATELY_MS, type Connections, type ListedIsland } from "../islands/island-service.ts";
import type { IslandFilter, KnownIsland } from "../store/accounts/operators.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";
import { reasonIn } from "./suspensions.ts";

interface IslandQuery extends Omit<IslandFilter, "seenSinceMs" | "unseenSinceMs" | "isSuspended"> {
  /**
   * `online`: seen in the last few minutes. `offline`: not seen since. `suspended`: the Island or its account is
   * suspended.
   */
  readonly status?: "online" | "offline" | "suspended" | undefined;
}

export type OperatorIslands = ReturnType<typeof operatorIslands>;

/** Connections for commands, which have no bus to query the coordinators. */
const UNKNOWN: Connections = { byId: new Map(), isComplete: false };

/**
 * Operations on Islands, for the API and for commands.
 * @param onChanged resolves when a suspension is in force at this coordinator
 */
export function operatorIslands(
  store: Pick<Store, "operators">,
  trail: AuditTrail,
  clock: Pick<Clock, "now">,
  onChanged: () => Promise<void> = async () => {},
  live: (hostIds: readonly string[]) => Promise<Connections> = async () => UNKNOWN,
) {
  /** Returns a known Island. @throws {ServiceError} `not_found` */
  const known = async (hostId: string): Promise<KnownIsland> => {
    const island = await store.operators.island(hostId);
    if (island === undefined) throw new ServiceError("not_found", `No Island has the id "${hostId}"`);
    return island;
  };

  return {
    known,

    async list({ status, ...rest }: IslandQuery, page: Page) {
      const onlineSinceMs = clock.now() - SEEN_LATELY_MS;
      const filter = {
        ...rest,
        isSuspended: status === undefined ? undefined : status === "suspended",
        seenSinceMs: status === "online" ? onlineSinceMs : undefined,
        unseenSinceMs: status === "offline" ? onlineSinceMs : undefined,
      };
      const { islands, total } = await store.operators.islands(filter, page);
      const ids = islands.map(({ hostId }) => hostId);
      const [connections, suspensions] = await Promise.all([live(ids), store.operators.suspensions()]);
      const listed = islands.map((island): ListedIsland<KnownIsland> => {
        const reason = reasonIn(suspensions, island.hostId, island.accountId);
        return listedIsland(island, connections, reason, clock.now());
      });
      return { islands: listed, total };
    },

    /** Suspends an Island: its session ends, and its jobs move to other Islands. @throws {ServiceError} `not_found` */
    async suspend(actor: Actor, hostId: string, reason: string): Promise<void> {
      if ((await known(hostId)).suspension !== null) return;
      const auditEvent = { ...target(hostId), action: "island.suspend", after: { because: reason } };
      await trail.record(actor, auditEvent, ({ operators }) =>
        operators.suspendIsland(hostId, { reason, atMs: clock.now() }),
      );
      await onChanged();
    },

    /**
     * Ends a suspension. The Island reconnects in a minute.
     * @throws {ServiceError} `not_found` unless it is suspended
     */
    async reinstate(actor: Actor, hostId: string): Promise<void> {
      const reason = (await store.operators.suspensions()).islands.get(hostId);
      if (reason === undefined) throw new ServiceError("not_found", `No suspended Island has the id "${hostId}"`);
      const auditEvent = { ...target(hostId), action: "island.reinstate", before: { because: reason } };
      await trail.record(actor, auditEvent, ({ operators }) => operators.reinstateIsland(hostId));
      await onChanged();
    },
  };
}

const target = (targetId: string) => ({ targetKind: "island", targetId }) as const;
