import type { Clock } from "../../shared/clock.ts";
import type { FromCoordinator, HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { Hello, IslandState } from "../../shared/protocol/from-island.ts";
import type { Env } from "../env.ts";
import type { SchedulerIsland } from "../scheduler/events.ts";
import type { AttemptId, IslandLink, IslandView } from "./island.ts";
import { MutableIsland, sharedTexts } from "./mutable-island.ts";

export type IslandRegistryEvent =
  /** An Island opened a session. `busy`: number of its slots with attempts that it continues. */
  | { readonly type: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /** A heartbeat arrived, or the Island started or stopped accepting jobs. */
  | { readonly type: "island_changed"; readonly island: SchedulerIsland }
  /** The session ended. The Island keeps its attempts for the grace period. */
  | { readonly type: "island_down"; readonly islandId: string }
  /** A connected Island finished an attempt, with any result. */
  | { readonly type: "slot_freed"; readonly islandId: string; readonly jobId: string }
  /** An Island that was assigned the same job again drops its earlier attempt, which took a slot until now. */
  | { readonly type: "slot_superseded"; readonly islandId: string; readonly jobId: string }
  /** The Island does not continue these attempts. Some of their jobs may have ended. `message`: for the job's error. */
  | {
      readonly type: "attempts_lost";
      readonly islandId: string;
      readonly attempts: readonly AttemptId[];
      readonly message: string;
      /** True if the Island is away and may return with the attempts; false if it is connected without them. */
      readonly mayReturn: boolean;
    };

export const REPLACED = "replaced by a newer session of the same host";
export const REMOVED = "its owner removed this Island; to bring it back, join again with a new code or token";
/** Time limit to confirm a cancel. Agents confirm within 2 s (docs/reference/island-protocol.md). */
const MAX_STOP_MS = 10_000;
/** Number of unconfirmed cancelled attempts after which an Island's session is closed. */
const MAX_IGNORED_CANCELS = 3;
const RETURNED_WITHOUT_JOB = "The Island returned without the job";

export interface ReportedIsland {
  readonly island: IslandView;
  readonly facts: SchedulerIsland;
}

/** Holds every Island that is connected or in its grace period, and makes all changes to Islands. */
export class IslandRegistry {
  readonly #clock: Clock;
  readonly #graceMs: number;
  /** Grace period after a restart. Agents reconnect at growing intervals while the coordinator is down. */
  readonly #restartGraceMs: number;
  readonly #islands = new Map<string, MutableIsland>();
  readonly #sizeOf: (slug: string) => number | null;
  readonly #texts = sharedTexts();
  readonly #listeners = new Set<(event: IslandRegistryEvent) => void>();

  /** @param sizeOf Returns the bytes of a Cargo's model; null if unknown. */
  constructor({ clock, config }: Env<"islandGraceMs" | "restartGraceMs">, sizeOf: (slug: string) => number | null) {
    this.#sizeOf = sizeOf;
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

  /** Returns the connected ones of these Islands. */
  factsOf(hostIds: readonly string[]): ReportedIsland[] {
    return hostIds.flatMap((hostId) => {
      const island = this.#islands.get(hostId);
      return island?.isConnected === true ? [{ island, facts: island.facts() }] : [];
    });
  }

  /** Returns an Island; undefined after its grace period. */
  get(hostId: string): IslandView | undefined {
    return this.#islands.get(hostId);
  }

  /** Calls `listener` synchronously for each event. */
  subscribe(listener: (event: IslandRegistryEvent) => void): void {
    this.#listeners.add(listener);
  }

  send(hostId: string, frame: FromCoordinator): void {
    this.#islands.get(hostId)?.link?.send(frame);
  }

  /**
   * Cancels an attempt. Its slot is free once the Island confirms. An Island that ignores several cancels is dismissed.
   */
  stop(hostId: string, { jobId, attempt }: AttemptId, reason: "cancelled" | "timeout"): void {
    const island = this.#islands.get(hostId);
    if (island === undefined || island.link === null) return;
    island.link.send({ type: "cancel", jobId, attempt, reason });
    if (!island.has({ jobId, attempt })) return;
    const limit = this.#clock.schedule(MAX_STOP_MS, () => this.#noteIgnored(island, jobId));
    island.awaitStop(jobId, limit);
  }

  /** Begins a session; {@link resume} completes it. An older session of the same Island ends. */
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
    island.applyHello(hello);
    return island;
  }

  /** Ends the session of an Island with a newer one at another coordinator. Its attempts wait for the grace period. */
  endSession(hostId: string): void {
    const island = this.#islands.get(hostId);
    if (island === undefined || island.link === null) return;
    const { link } = island;
    link.dismiss(REPLACED, null);
    // The socket may be dead and close late.
    this.disconnect(island, link);
  }

  remove(accountId: string, hostId: string): void {
    if (this.#islands.get(hostId)?.accountId !== accountId) return;
    this.dismiss(hostId, { reason: REMOVED, retryAfterMs: null, message: "The Island's owner removed it" });
  }

  /** Dismisses an Island. Its attempts are lost at once; `message` is for the errors of their jobs. */
  dismiss(hostId: string, goodbye: { reason: string; retryAfterMs: number | null; message: string }): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) return;
    const { link } = island;
    const { reason, retryAfterMs, message } = goodbye;
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

  /** Completes a session. The Island keeps the attempts that `held` continues; its other attempts are lost. */
  resume(view: IslandView, held: readonly HeldDecision[]): void {
    const island = this.#own(view);
    const kept = held.filter(({ action }) => action === "continue");
    const keptIds = new Set(kept.map(({ jobId }) => jobId));
    const lost = island.attempts().filter(({ jobId }) => !keptIds.has(jobId));
    island.forgetStops();
    island.freeSlots();
    for (const attempt of kept) island.takeSlot(attempt);
    this.#emit({ type: "island_up", island: island.facts(), busy: island.slotsInUse });
    this.#emitLost(island, lost, RETURNED_WITHOUT_JOB, false);
  }

  /** Ends the session. The Island's attempts wait for it during the grace period. */
  disconnect(view: IslandView, link: IslandLink): void {
    const island = this.#own(view);
    if (island.link !== link) return;
    island.link = null;
    island.forgetStops();
    this.#emit({ type: "island_down", islandId: island.hostId });
    this.#beginGrace(island, this.#graceMs);
  }

  /**
   * Starts the grace period of an Island that had these attempts at the last stop, or with another coordinator. If the
   * Island is connected, the attempts that it does not have are lost.
   */
  awaitReturn(
    hostId: string,
    accountId: string,
    attempts: readonly AttemptId[],
    graceMs: number = this.#restartGraceMs,
  ): void {
    const island = this.#islands.get(hostId) ?? new MutableIsland(hostId, accountId, this.#texts);
    if (island.isConnected) {
      // The Island may have connected while the jobs were read, and continue some of them.
      const missing = attempts.filter((attempt) => !island.has(attempt));
      return this.#emitLost(island, missing, RETURNED_WITHOUT_JOB, false);
    }
    this.#islands.set(island.hostId, island);
    for (const attempt of attempts) island.takeSlot(attempt);
    island.grace?.cancel();
    return this.#beginGrace(island, graceMs);
  }

  /** Closes the session of an Island whose job belongs to another coordinator now, so that it reconnects. */
  recall(hostId: string, attempt: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) return;
    const { link } = island;
    if (island.has(attempt)) island.freeSlot(attempt.jobId);
    if (link === null) return;
    this.disconnect(island, link);
    link.dismiss("another coordinator now owns a job of this Island", 0);
  }

  /** Applies a heartbeat. Listeners are only called for changes. */
  update(view: IslandView, state: IslandState): void {
    const island = this.#own(view);
    if (!island.update(state, this.#sizeOf, this.#clock.monotonicMs())) return;
    this.#emit({ type: "island_changed", island: island.facts() });
  }

  setDraining(view: IslandView, draining: boolean): void {
    const island = this.#own(view);
    island.setDraining(draining);
    this.#emit({ type: "island_changed", island: island.facts() });
  }

  /** Records a round-trip time, which applies from the next heartbeat. */
  setRoundTrip(view: IslandView, rttMs: number): void {
    this.#own(view).rttMs = rttMs;
  }

  /** Takes a slot for an attempt. @throws if the registry does not have the Island. */
  takeSlot(hostId: string, { jobId, attempt }: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island === undefined) throw new Error(`Unknown Island ${hostId}`);
    if (!island.takeSlot({ jobId, attempt })) return;
    // The agent silently drops its earlier attempt of the same job.
    island.forgetStop(jobId);
    this.#emit({ type: "slot_superseded", islandId: hostId, jobId });
  }

  /** Frees the slot of an attempt. Ignores an attempt that takes no slot. */
  freeSlot(hostId: string, { jobId, attempt }: AttemptId): void {
    const island = this.#islands.get(hostId);
    if (island?.has({ jobId, attempt }) !== true) return;
    island.freeSlot(jobId);
    island.forgetStop(jobId);
    if (island.isConnected) this.#emit({ type: "slot_freed", islandId: hostId, jobId });
  }

  close(): void {
    for (const island of this.#islands.values()) {
      island.grace?.cancel();
      island.forgetStops();
    }
  }

  /** Returns the object behind a view. Every view that leaves this class is a {@link MutableIsland}. */
  #own(view: IslandView): MutableIsland {
    if (view instanceof MutableIsland) return view;
    throw new TypeError(`Island ${view.hostId} does not belong to this registry`);
  }

  #noteIgnored(island: MutableIsland, jobId: string): void {
    const ignored = island.ignoreStop(jobId);
    if (ignored < MAX_IGNORED_CANCELS) return;
    const reason = `${ignored} jobs did not stop within ${MAX_STOP_MS / 1_000} s of their cancellation`;
    island.link?.dismiss(reason, 0);
  }

  #beginGrace(island: MutableIsland, graceMs: number): void {
    if (!island.isBusy) {
      this.#islands.delete(island.hostId);
      return;
    }
    island.grace = this.#clock.schedule(graceMs, () => {
      this.#islands.delete(island.hostId);
      this.#emitLost(island, island.attempts(), "The Island disconnected and did not return in time", true);
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
