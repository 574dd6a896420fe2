import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type JobError } from "../../shared/errors.ts";
import { MAX_FRAME_BYTES, ProtocolError } from "../../shared/protocol/codec.ts";
import type { HeldDecision } from "../../shared/protocol/from-coordinator.ts";
import type { FromIsland, HeldJob, Hello, NumberedFrame } from "../../shared/protocol/from-island.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Dispatcher } from "../jobs/dispatcher.ts";
import { admitOutput, type LiveJob } from "../jobs/live-job.ts";
import type { Store } from "../store/store.ts";
import type { CargoSigner } from "./cargo-signer.ts";
import type { Claims } from "./claims.ts";
import { Island, type IslandLink } from "./island.ts";

export interface IslandDeskDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  readonly claims: Claims;
  readonly signer: Pick<CargoSigner, "sign">;
  readonly catalog: Pick<Catalog, "find">;
  readonly graceMs: number;
  readonly heartbeatMs: number;
}

type AttemptFrame = Extract<FromIsland, { attempt: number }>;

/** Where Islands come, report and go: turns their frames into events for the dispatcher. */
export class IslandDesk {
  readonly #deps: IslandDeskDeps;
  readonly #dispatcher: Dispatcher;

  constructor(deps: IslandDeskDeps) {
    this.#deps = deps;
    this.#dispatcher = deps.dispatcher;
  }

  /**
   * Lets an Island in, settles which of the jobs it holds it goes on with, and sends `welcome`. Null when it has left meanwhile.
   * @throws {ServiceError} `insufficient_scope` when the host id belongs to another account.
   */
  async connect(hello: Hello, accountId: string, sessionId: string, link: IslandLink): Promise<Island | null> {
    const { store, clock, heartbeatMs } = this.#deps;
    const { hostId, agentVersion, hardware, runtimes } = hello;
    const lastSeenAtMs = clock.now();
    const isOurs = await store.islands.save({ hostId, accountId, agentVersion, hardware, runtimes, lastSeenAtMs });
    if (!isOurs) throw new ServiceError("insufficient_scope", "This host id belongs to another account");
    if (!link.isOpen) return null;

    const { islands } = this.#dispatcher;
    const island = islands.get(hostId) ?? new Island(hostId, accountId);
    islands.set(hostId, island);
    const previous = island.link;
    if (previous !== null) {
      this.#dispatcher.decide({ kind: "island_down", islandId: hostId });
      previous.dismiss("replaced by a newer session of the same host", null);
    }
    island.grace?.cancel();
    island.grace = null;
    island.link = link;
    island.greet(hello);

    const held = hello.held.map((job) => this.#reconcile(island, job));
    const lost = this.#forgetMissing(island, held);
    link.send({ type: "welcome", sessionId, heartbeatMs, maxFrameBytes: MAX_FRAME_BYTES, held });
    this.#dispatcher.decide({ kind: "island_up", island: island.view(), busy: island.holding.size });
    for (const job of lost) void this.#dispatcher.giveBack(job, islandLost("The Island came back without the job"));
    return island;
  }

  /** The session is over. The Island's jobs wait for it to come back, for the grace. */
  disconnect(island: Island, link: IslandLink): void {
    if (island.link !== link) return;
    island.link = null;
    this.#dispatcher.decide({ kind: "island_down", islandId: island.hostId });
    this.awaitReturn(island);
  }

  /** Gives the Island the grace to come back in, then its jobs to others. */
  awaitReturn(island: Island): void {
    const { graceMs, clock } = this.#deps;
    if (island.holding.size === 0) {
      this.#dispatcher.islands.delete(island.hostId);
      return;
    }
    island.grace = clock.schedule(graceMs, () => {
      this.#dispatcher.islands.delete(island.hostId);
      const lost = this.#forgetMissing(island, []);
      for (const job of lost)
        void this.#dispatcher.giveBack(job, islandLost("The Island was lost and did not come back"));
    });
  }

  /**
   * Acts on a frame. Resolves when what it says is durable, undefined for frames that are not stored.
   * @throws {ProtocolError} for a frame that does not fit the session's state.
   */
  receive(island: Island, frame: FromIsland): Promise<void> | undefined {
    switch (frame.type) {
      case "hello":
        throw new ProtocolError("hello: said twice");
      case "heartbeat":
        island.update(frame.state);
        this.#dispatcher.decide({ kind: "island_changed", island: island.view() });
        return undefined;
      case "draining":
      case "accepting":
        island.setDraining(frame.type === "draining");
        this.#dispatcher.decide({ kind: "island_changed", island: island.view() });
        return undefined;
      case "wanted":
        this.#offer(island, frame.slugs);
        return undefined;
      case "accepted":
        return undefined;
      case "refused": {
        const job = this.#current(island, frame);
        this.#freeSlot(island, frame);
        if (job === undefined) return undefined;
        return this.#dispatcher.giveBack(job, { code: frame.code, message: frame.message, retryable: true });
      }
      case "started": {
        const job = this.#current(island, frame);
        if (job?.state === "queued") this.#dispatcher.start(job);
        return undefined;
      }
      case "output":
      case "finished":
      case "failed":
      case "cancelled":
        return this.#receiveNumbered(island, frame);
      default:
        return frame satisfies never;
    }
  }

  /** Sends what the Island asked for, as far as its owner may run it. */
  #offer(island: Island, slugs: readonly string[]): void {
    const { catalog, signer } = this.#deps;
    for (const slug of new Set(slugs)) {
      const entry = catalog.find(slug, island.accountId);
      if (entry !== undefined) island.link?.send({ type: "preload", ...signer.sign(entry) });
    }
  }

  #receiveNumbered(island: Island, frame: NumberedFrame): Promise<void> | undefined {
    const job = this.#current(island, frame);
    if (job === undefined) return this.#discard(island, frame).then(() => this.#ack(island, frame));
    if (frame.seq <= job.lastSeq) {
      if (frame.seq <= job.durableSeq) this.#ack(island, frame);
      return undefined;
    }
    if (frame.seq !== job.lastSeq + 1) throw new ProtocolError(`seq: ${frame.seq} after ${job.lastSeq}`);
    job.lastSeq = frame.seq;
    if (job.state === "queued" && frame.type !== "failed" && frame.type !== "cancelled") this.#dispatcher.start(job);
    return this.#applyInTime(island, job, frame).then(() => {
      if (job.attempt === frame.attempt) job.durableSeq = frame.seq;
      this.#ack(island, frame);
    });
  }

  /**
   * Acts on a frame as soon as its attempt is durable, which it nearly always is: what is said of an attempt is then never
   * said again of another with the same number, whenever we are killed. README of `jobs/`, "Positions".
   */
  #applyInTime(island: Island, job: LiveJob, frame: NumberedFrame): Promise<void> {
    if (job.assigned === null) return this.#apply(island, job, frame);
    return job.assigned.then(() =>
      this.#current(island, frame) === job ? this.#apply(island, job, frame) : this.#discard(island, frame),
    );
  }

  /** The attempt is over for us, so its frames may be forgotten: at once, or when its end is durable. */
  #discard(island: Island, frame: NumberedFrame): Promise<void> {
    if (frame.type !== "output") this.#freeSlot(island, frame);
    return this.#dispatcher.jobs.get(frame.jobId)?.settled ?? Promise.resolve();
  }

  /** Acts on a numbered frame of the present attempt; resolves when what it says is durable. */
  #apply(island: Island, job: LiveJob, frame: NumberedFrame): Promise<void> {
    const { attempt } = frame;
    const islandId = island.hostId;
    switch (frame.type) {
      case "output": {
        if (!admitOutput(job, frame.items)) return this.#dispatcher.overflow(job);
        if (!job.feed.hasOutput) job.announce("streaming");
        job.say(frame.items);
        const chunk = { jobId: job.id, attempt, seq: frame.seq, items: job.takeUnsaved() };
        return this.#dispatcher.persist(this.#deps.store.jobs.appendFeed(chunk));
      }
      case "finished": {
        const { output, usage, finishReason, timings } = frame;
        const ended = this.#dispatcher.end(job, { event: "complete", output, usage, finishReason, timings });
        const tokensPerSecond = timings.runMs > 0 ? (usage.completionTokens * 1_000) / timings.runMs : null;
        this.#dispatcher.decide({ kind: "measured", islandId, slug: job.slug, tokensPerSecond, succeeded: true });
        this.#freeSlot(island, frame);
        return ended;
      }
      case "failed": {
        const { code, message, retryable } = frame;
        // The slot is given back first, so that another waiting job may have it; the failed one prefers another Island.
        this.#freeSlot(island, frame);
        this.#dispatcher.decide({
          kind: "measured",
          islandId,
          slug: job.slug,
          tokensPerSecond: null,
          succeeded: false,
        });
        const error: JobError = { code, message, retryable };
        return retryable ? this.#dispatcher.giveBack(job, error) : this.#dispatcher.end(job, { event: "fail", error });
      }
      case "cancelled": {
        // Nobody asked: the Island's owner stopped the work.
        this.#freeSlot(island, frame);
        return this.#dispatcher.giveBack(job, islandLost("The Island gave the job up"));
      }
      default:
        return frame satisfies never;
    }
  }

  /** The job if the frame is of its present attempt and comes from the Island that has it; fencing drops the rest. */
  #current(island: Island, frame: AttemptFrame): LiveJob | undefined {
    const job = this.#dispatcher.jobs.get(frame.jobId);
    if (job === undefined || job.hasEnded) return undefined;
    return job.attempt === frame.attempt && job.islandId === island.hostId ? job : undefined;
  }

  #freeSlot(island: Island, frame: AttemptFrame): void {
    if (island.holding.get(frame.jobId) === frame.attempt) this.#dispatcher.releaseSlot(island, frame.jobId);
  }

  #ack(island: Island, { jobId, attempt, seq }: NumberedFrame): void {
    island.link?.send({ type: "ack", jobId, attempt, seq });
  }

  /** Decides whether the Island goes on with a job that it says it holds. */
  #reconcile(island: Island, held: HeldJob): HeldDecision {
    const { jobId, attempt } = held;
    const drop: HeldDecision = { jobId, attempt, action: "drop" };
    const job = this.#dispatcher.jobs.get(jobId);
    if (job === undefined || job.hasEnded) return drop;
    if (!this.#deps.claims.proves(held.claim, jobId, attempt, island.hostId)) return drop;
    // It was assigned just before we ended, and that was not durable yet.
    if (job.state === "pending" && attempt > job.attempt) this.#dispatcher.claim(job, island, attempt);
    if (job.islandId !== island.hostId || job.attempt !== attempt) return drop;
    if (held.started && job.state === "queued") this.#dispatcher.start(job);
    // What was received but is not durable yet is asked for again; lastSeq tells the repeats.
    return { jobId, attempt, action: "continue", ackedSeq: job.durableSeq };
  }

  /** Frees the slots of all attempts that the Island does not go on with; returns the unfinished jobs among them. */
  #forgetMissing(island: Island, held: readonly HeldDecision[]): LiveJob[] {
    const kept = new Set(held.filter((decision) => decision.action === "continue").map((decision) => decision.jobId));
    const lost: LiveJob[] = [];
    for (const [jobId, attempt] of island.holding) {
      if (kept.has(jobId)) continue;
      island.holding.delete(jobId);
      const job = this.#dispatcher.jobs.get(jobId);
      if (job !== undefined && !job.hasEnded && job.attempt === attempt) lost.push(job);
    }
    return lost;
  }
}

function islandLost(message: string): JobError {
  return { code: "island_lost", message, retryable: true };
}
