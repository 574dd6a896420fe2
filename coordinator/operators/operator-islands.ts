import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import {
  SEEN_LATELY_MS,
  statusOf,
  type IslandService,
  type IslandStatus,
  type OwnedIsland,
} from "../islands/island-service.ts";
import type { LiveIsland } from "../islands/live-island.ts";
import type { IslandFilter, KnownIsland } from "../store/accounts/operators.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";
import type { NetworkView } from "./network-view.ts";
import { reasonIn } from "./suspensions.ts";

export interface OperatorIslandsDeps {
  readonly store: Pick<Store, "operators">;
  readonly trail: AuditTrail;
  readonly clock: Pick<Clock, "now">;
  /** What the API shows and commands cannot know. */
  readonly live?: {
    readonly view: Pick<NetworkView, "live">;
    readonly islands: Pick<IslandService, "get">;
  };
  /** Resolves when a suspension counts here. */
  readonly onChanged?: () => Promise<void>;
}

/** An Island in the operators' list. */
export interface ListedIsland {
  readonly record: KnownIsland;
  readonly status: IslandStatus;
  /** Null unless it is connected. */
  readonly live: LiveIsland | null;
  readonly isLive: boolean;
  readonly suspendedBecause: string | null;
}

export interface IslandQuery extends Omit<IslandFilter, "seenSinceMs" | "unseenSinceMs" | "isSuspended"> {
  /** `online`: seen in the last minutes; `offline`: not. */
  readonly status?: "online" | "offline" | "suspended" | undefined;
}

/** What operators do with Islands, by the API and by commands. */
export class OperatorIslands {
  readonly #deps: OperatorIslandsDeps;

  constructor(deps: OperatorIslandsDeps) {
    this.#deps = deps;
  }

  /** Last seen first. */
  async list({ status, ...filter }: IslandQuery, page: Page): Promise<{ islands: ListedIsland[]; total: number }> {
    const { store, clock, live } = this.#deps;
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
      live?.view.live(islands.map(({ hostId }) => hostId)),
      store.operators.suspensions(),
    ]);
    const listed = islands.map((record): ListedIsland => {
      const { hostId, accountId, lastSeenAtMs } = record;
      const found = seen?.byId.get(hostId);
      const suspendedBecause = reasonIn(suspensions, hostId, accountId);
      const mayBeConnected = seen?.isComplete !== true && lastSeenAtMs >= lately;
      return {
        record: found === undefined ? record : { ...record, lastSeenAtMs: clock.now() },
        status: statusOf(found, suspendedBecause !== null, mayBeConnected),
        live: found ?? null,
        isLive: found !== undefined || seen?.isComplete === true,
        suspendedBecause,
      };
    });
    return { islands: listed, total };
  }

  /** As its owner sees it. @throws {ServiceError} `not_found` */
  async get(hostId: string): Promise<{ island: OwnedIsland; known: KnownIsland }> {
    const known = await this.#known(hostId);
    const { live } = this.#deps;
    if (live === undefined) throw new Error("Only a coordinator shows an Island with its figures");
    return { island: await live.islands.get(known.accountId, hostId), known };
  }

  /**
   * Its session ends, its jobs go to other Islands at once, and it gets no more until it is reinstated. Nothing happens to one that is
   * suspended. @throws {ServiceError} `not_found`
   */
  async suspend(actor: Actor, hostId: string, because: string): Promise<void> {
    const { trail, clock, onChanged } = this.#deps;
    if ((await this.#known(hostId)).suspension !== null) return;
    const deed = { ...target(hostId), action: "island.suspend", after: { because } };
    await trail.record(actor, deed, ({ operators }) => operators.suspendIsland(hostId, { because, atMs: clock.now() }));
    await onChanged?.();
  }

  /** It comes back within a minute. @throws {ServiceError} `not_found` for one that is not suspended, known or not. */
  async reinstate(actor: Actor, hostId: string): Promise<void> {
    const { store, trail, onChanged } = this.#deps;
    const because = (await store.operators.suspensions()).islands.get(hostId);
    if (because === undefined) throw new ServiceError("not_found", `There is no suspended Island "${hostId}"`);
    const deed = { ...target(hostId), action: "island.reinstate", before: { because } };
    await trail.record(actor, deed, ({ operators }) => operators.reinstateIsland(hostId));
    await onChanged?.();
  }

  async #known(hostId: string): Promise<KnownIsland> {
    const island = await this.#deps.store.operators.island(hostId);
    if (island === undefined) throw new ServiceError("not_found", `There is no Island "${hostId}"`);
    return island;
  }
}

const target = (targetId: string) => ({ targetKind: "island", targetId }) as const;
