import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { listedIsland, SEEN_LATELY_MS, type Connections, type ListedIsland } from "../islands/island-service.ts";
import type { IslandFilter, KnownIsland } from "../store/accounts/operators.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";
import { reasonIn } from "./suspensions.ts";

interface IslandQuery extends Omit<IslandFilter, "seenSinceMs" | "unseenSinceMs" | "isSuspended"> {
  /** `online`: seen in the last minutes; `offline`: not. */
  readonly status?: "online" | "offline" | "suspended" | undefined;
}

/** Operations on Islands, by the API and by commands. */
export type OperatorIslands = ReturnType<typeof operatorIslands>;

/** For commands, which cannot ask the coordinators. */
const UNKNOWN: Connections = { byId: new Map(), isComplete: false };

/** @param onChanged Resolves when a suspension counts here. */
export function operatorIslands(
  store: Pick<Store, "operators">,
  trail: AuditTrail,
  clock: Pick<Clock, "now">,
  onChanged: () => Promise<void> = async () => {},
  live: (hostIds: readonly string[]) => Promise<Connections> = async () => UNKNOWN,
) {
  /** @throws {ServiceError} `not_found` */
  const known = async (hostId: string): Promise<KnownIsland> => {
    const island = await store.operators.island(hostId);
    if (island === undefined) throw new ServiceError("not_found", `No Island has the id "${hostId}"`);
    return island;
  };

  return {
    known,

    /** Last seen first. */
    async list(
      { status, ...filter }: IslandQuery,
      page: Page,
    ): Promise<{ islands: ListedIsland<KnownIsland>[]; total: number }> {
      const lately = clock.now() - SEEN_LATELY_MS;
      const { islands, total } = await store.operators.islands(
        {
          ...filter,
          isSuspended: status === undefined ? undefined : status === "suspended",
          seenSinceMs: status === "online" ? lately : undefined,
          unseenSinceMs: status === "offline" ? lately : undefined,
        },
        page,
      );
      const [seen, suspensions] = await Promise.all([
        live(islands.map(({ hostId }) => hostId)),
        store.operators.suspensions(),
      ]);
      const listed = islands.map((record) => {
        return listedIsland(record, seen, reasonIn(suspensions, record.hostId, record.accountId), clock.now());
      });
      return { islands: listed, total };
    },

    /**
     * Its session ends, its jobs go to other Islands at once, and it gets no more until it is reinstated. Nothing happens to one that is
     * suspended. @throws {ServiceError} `not_found`
     */
    async suspend(actor: Actor, hostId: string, because: string): Promise<void> {
      if ((await known(hostId)).suspension !== null) return;
      const auditEvent = { ...target(hostId), action: "island.suspend", after: { because } };
      await trail.record(actor, auditEvent, ({ operators }) =>
        operators.suspendIsland(hostId, { because, atMs: clock.now() }),
      );
      await onChanged();
    },

    /** It comes back within a minute. @throws {ServiceError} `not_found` for one that is not suspended, known or not. */
    async reinstate(actor: Actor, hostId: string): Promise<void> {
      const because = (await store.operators.suspensions()).islands.get(hostId);
      if (because === undefined) throw new ServiceError("not_found", `No suspended Island has the id "${hostId}"`);
      const auditEvent = { ...target(hostId), action: "island.reinstate", before: { because } };
      await trail.record(actor, auditEvent, ({ operators }) => operators.reinstateIsland(hostId));
      await onChanged();
    },
  };
}

const target = (targetId: string) => ({ targetKind: "island", targetId }) as const;
