import type { Clock } from "../../shared/clock.ts";
import type { FromCoordinator, HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { Hello, IslandState } from "../../shared/protocol/from-island.ts";
import type { Env } from "../env.ts";
import type { SchedulerIsland } from "../scheduler/scheduler.ts";
import type { AttemptId, IslandLink, IslandView } from "./island.ts";
import { MutableIsland, sharedTexts } from "./mutable-island.ts";

export type IslandRegistryEvent =
  /** A session began. `busy`: slots taken by attempts that the Island continues. */
  | { readonly type: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /** A heartbeat, or the Island takes new jobs again or no longer. */
  | { readonly type: "island_changed"; readonly island: SchedulerIsland }
  /** The session is over. The Island keeps its attempts for the grace. */
  | { readonly type: "island_down"; readonly islandId: string }
  /** A connected Island finished with an attempt, however it ended. */
  | { readonly type: "slot_freed"; readonly islandId: string; readonly jobId: string }
  /** An Island that was given a job again drops its earlier attempt of it, which took a slot until now. */
  | { readonly type: "slot_superseded"; readonly islandId: string; readonly jobId: string }
  /** Attempts that the Island does not continue. Some of their jobs may have ended. `message`: why, for the job's error. */
  | {
      readonly type: "attempts_lost";
      readonly islandId: string;
      readonly attempts: readonly AttemptId[];
      readonly message: string;
      /** The Island is away and may come back with them; false: it is here without them. */
      readonly mayReturn: boolean;
    };

/** Why a session ends when its Island has a newer one. */
export const REPLACED = "replaced by a newer session of the same host";
/** Told to an Island that its owner removed. */
export const REMOVED = "its owner removed this Island; to bring it back, join again with a new code or token";
/** Agents confirm within 2 s (docs/protocol.md). */
const MAX_STOP_MS = 10_000;
/** Cancelled attempts that an Island may leave unconfirmed before its session is closed. */
const MAX_IGNORED_CANCELS = 3;
const CAME_WITHOUT = "The Island came back without the job";

/** An Island, and what it said last. */
export interface ReportedIsland {
  readonly island: IslandView;
  readonly facts: SchedulerIsland;
}

/**
 * Owner of every Island that is connected or in its grace: its link, its slots, what it reported and how long it may be away.
 * Everything that changes an Island is a command here. Others see Islands as {@link IslandView}.
 */
export class IslandRegistry {
  readonly #clock: Clock;
  /** How long a lost Island's attempts wait for it. */
  readonly #graceMs: number;
  /** The same after a restart of the coordinator: agents try to connect at growing intervals while it is down. */
  readonly #restartGraceMs: number;
  /** By host id. */
  readonly #islands = new Map<string, MutableIsland>();
  readonly #texts = sharedTexts();
  readonly #listeners = new Set<(event: IslandRegistryEvent) => void>();

  constructor({ clock, config }: Env<"islandGraceMs" | "restartGraceMs">) {
    this.#clock = clock;
    this.#graceMs = config.islandGraceMs;
    this.#restartGraceMs = config.restartGraceMs;
  }

  get connectedCount(): number {
    let count = 0;
    for (const { isConnected } of this.#islands.values()) if (isConnected) count += 1;
    return count;
  }

  *connected(): Iterable<ReportedIsland> {
    for (const island of this.#islands.values()) if (island.isConnected) yield { island, facts: island.facts() };
  }

  connectedOf(accountIds: ReadonlySet<string>): string[] {
    if (accountIds.size === 0) return [];
    const islands = [...this.#islands.values()];
    return islands.filter((each) => each.isConnected && accountIds.has(each.accountId)).map(({ hostId }) => hostId);
  }

  connectedFacts(accountId: string, hostId: string | null): ReportedIsland[] {
    const islands = hostId === null ? [...this.connected()] : this.factsOf([hostId]);
    return islands.filter(({ island }) => island.accountId === accountId);
  }

  /** Those of these Islands that are connected. */
  factsOf(hostIds: readonly string[]): ReportedIsland[] {
    return hostIds.flatMap((hostId) => {
      const island = this.#islands.get(hostId);
      return island?.isConnected === true ? [{ island, facts: island.facts() }] : [];
    });
  }

  /** Undefined for an Island whose grace is over. */
  get(hostId: string): IslandView | undefined {
    return this.#islands.get(hostId);
  }

  /** Calls `listener` for each event, synchronously. */
  subscribe(listener: (event: IslandRegistryEvent) => void): void {
    this.#listeners.add(listener);
  }

  send(hostId: string, frame: FromCoordinator): void {
    this.#islands.get(hostId)?.link?.send(frame);
  }

  /**
   * Tells the Island to stop an attempt. Until it confirms, its slot is not given to it again; an Island that leaves several such
   * attempts unconfirmed is sent away.
   */
  stop(hostId: string, { jobId, attempt }: AttemptId, reason: "cancelled" | "timeout"): void {
    const island = this.#islands.get(hostId);
    if (island === undefined || island.link === null) return;
    island.link.send({ type: "cancel", jobId, attempt, reason });
    if (!island.has({ jobId, attempt })) return;
    const limit = this.#clock.schedule(MAX_STOP_MS, () => this.#noteIgnored(island, jobId));
    island.awaitStop(jobId, limit);
  }

  /** The first half of a session's begin; {@link resume} is the second. An older session of the same Island ends. */
  connect(hello: Hello, accountId: string, link: IslandLink): IslandView {
    const { hostId } = hello;
    const island = this.#islands.get(hostId) ?? new MutableIsland(hostId, accountId, this.#texts);
    this.#islands.set(island.hostId, island);
    const previous = island.link;
    if (previous !== null) {
      this.#emit({ type: "island_down", islandId: hostId });
      previous.dismiss(REPLACED, null);
    }
    island.grace?.cancel();
    island.grace = null;
    island.link = link;
    island.greet(hello);
    return island;
  }

  /** Ends the session of an Island that has a newer one at another coordinator. Its attempts wait for it here, for the grace. */
  endSession(hostId: string): void {
    const island = this.#islands.get(hostId);
    if (island === undefined || island.link === null) return;
    const { link } = island;
    link.dismiss(REPLACED, null);
    // Its socket may be dead, and close late.
    this.disconnect(island, link);
  }

  /** Its owner sends the Island away for good. Its attempts are lost at once. */
  remove(accountId: string, hostId: string): void {
    if (this.#islands.get(hostId)?.accountId !== accountId) return;
    this.sendAway(hostId, { reason: REMOVED, retryAfterMs: null, message: "The Island's owner removed it" });
  }

  /** Ends the session of an Island, which does not come back with its attempts: they are lost at once. `message`: for their jobs. */
  sendAway(hostId: string, farewell: { reason: string; retryAfterMs: number | null; message: string }): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) return;
    const { link } = island;
    const { reason, retryAfterMs, message } = farewell;
    if (link !== null) {
      island.link = null;
      this.#emit({ type: "island_down", islandId: hostId });
      link.dismiss(reason, retryAfterMs);
    }
    island.forgetStops();
    island.grace?.cancel();
    this.#islands.delete(hostId);
    this.#emitLost(island, island.attempts(), message, false);
  }

  /** The Island continues what `held` says, and nothing else: it is up with these attempts, and the others are lost. */
  resume(view: IslandView, held: readonly HeldDecision[]): void {
    const island = this.#own(view);
    const kept = held.filter(({ action }) => action === "continue");
    const keptIds = new Set(kept.map(({ jobId }) => jobId));
    const lost = island.attempts().filter(({ jobId }) => !keptIds.has(jobId));
    island.forgetStops();
    island.freeSlots();
    for (const attempt of kept) island.takeSlot(attempt);
    this.#emit({ type: "island_up", island: island.facts(), busy: island.slotsInUse });
    this.#emitLost(island, lost, CAME_WITHOUT, false);
  }

  /** The session is over. The Island's attempts wait for it to come back, for the grace. */
  disconnect(view: IslandView, link: IslandLink): void {
    const island = this.#own(view);
    if (island.link !== link) return;
    island.link = null;
    island.forgetStops();
    this.#emit({ type: "island_down", islandId: island.hostId });
    this.#beginGrace(island, this.#graceMs);
  }

  /**
   * Takes in attempts of an Island that is away: it had them when the coordinator last stopped, or with another coordinator. Its grace
   * begins. If it is here, it came without those that it does not have.
   */
  awaitReturn(
    hostId: string,
    accountId: string,
    attempts: readonly AttemptId[],
    graceMs: number = this.#restartGraceMs,
  ): void {
    const island = this.#islands.get(hostId) ?? new MutableIsland(hostId, accountId, this.#texts);
    if (island.isConnected) {
      // It may have come while the jobs were read, and go on with some of them.
      const missing = attempts.filter((attempt) => !island.has(attempt));
      return this.#emitLost(island, missing, CAME_WITHOUT, false);
    }
    this.#islands.set(island.hostId, island);
    for (const attempt of attempts) island.takeSlot(attempt);
    island.grace?.cancel();
    return this.#beginGrace(island, graceMs);
  }

  /** Another coordinator has the job of this attempt. An Island that is here comes back with it, to be told what it continues. */
  recall(hostId: string, attempt: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) return;
    const { link } = island;
    if (island.has(attempt)) island.freeSlot(attempt.jobId);
    if (link === null) return;
    this.disconnect(island, link);
    link.dismiss("a job that it has belongs to another coordinator now", 0);
  }

  /** A heartbeat. Most make no difference, and nobody hears of them. */
  update(view: IslandView, state: IslandState): void {
    const island = this.#own(view);
    if (island.update(state)) this.#emit({ type: "island_changed", island: island.facts() });
  }

  setDraining(view: IslandView, draining: boolean): void {
    const island = this.#own(view);
    island.setDraining(draining);
    this.#emit({ type: "island_changed", island: island.facts() });
  }

  /** Counts from the next heartbeat on. */
  setRoundTrip(view: IslandView, rttMs: number): void {
    this.#own(view).rttMs = rttMs;
  }

  /** An attempt was given to the Island. @throws for an Island that the registry does not have. */
  takeSlot(hostId: string, { jobId, attempt }: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) throw new Error(`Island ${hostId} is not known`);
    if (!island.takeSlot({ jobId, attempt })) return;
    // The agent drops its earlier attempt of the same job without a word.
    island.forgetStop(jobId);
    this.#emit({ type: "slot_superseded", islandId: hostId, jobId });
  }

  /** The Island finished with an attempt. Does nothing for one that takes no slot. */
  freeSlot(hostId: string, { jobId, attempt }: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island?.has({ jobId, attempt }) !== true) return;
    island.freeSlot(jobId);
    island.forgetStop(jobId);
    if (island.isConnected) this.#emit({ type: "slot_freed", islandId: hostId, jobId });
  }

  /** Stops all timers. */
  close(): void {
    for (const island of this.#islands.values()) {
      island.grace?.cancel();
      island.forgetStops();
    }
  }

  /** Every view that leaves this class is a {@link MutableIsland}. */
  #own(view: IslandView): MutableIsland {
    if (view instanceof MutableIsland) return view;
    throw new TypeError(`Island ${view.hostId} is not of this registry`);
  }

  #noteIgnored(island: MutableIsland, jobId: string): void {
    const ignored = island.ignoreStop(jobId);
    if (ignored < MAX_IGNORED_CANCELS) return;
    const reason = `${ignored} jobs did not stop within ${MAX_STOP_MS / 1_000} s of their cancel`;
    island.link?.dismiss(reason, 0);
  }

  #beginGrace(island: MutableIsland, graceMs: number): void {
    if (!island.isBusy) {
      this.#islands.delete(island.hostId);
      return;
    }
    island.grace = this.#clock.schedule(graceMs, () => {
      this.#islands.delete(island.hostId);
      this.#emitLost(island, island.attempts(), "The Island was lost and did not come back", true);
    });
  }

  #emitLost(island: MutableIsland, attempts: readonly AttemptId[], message: string, mayReturn: boolean): void {
    if (attempts.length === 0) return;
    this.#emit({ type: "attempts_lost", islandId: island.hostId, attempts, message, mayReturn });
  }

  #emit(event: IslandRegistryEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
