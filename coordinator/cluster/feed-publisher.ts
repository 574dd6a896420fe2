import type { Bus, Unsubscribe } from "../bus/bus.ts";
import { FeedTail } from "../jobs/feed-tail.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import { toWire, type OpenedFeed, type OpenFeed, type RenewedFeeds, type RenewFeeds } from "./feed-messages.ts";
import { FollowerStreams, MAX_SLICE_CHARS, type FollowerStreamsDeps } from "./follower-streams.ts";
import type { Timer } from "../../shared/clock.ts";

export interface FeedPublisherDeps {
  readonly selfId: string;
  readonly bus: Pick<Bus, "answer" | "publish">;
  readonly jobs: Pick<JobRegistry, "get" | "noteReader" | "awaitReaders">;
  /** Whether that coordinator has a lease. */
  readonly isLiving: (coordinatorId: string) => boolean;
  readonly clock: FollowerStreamsDeps["clock"];
}

/** A follower that has not said for so long what it wants gets nothing until it opens its feeds anew. */
const INTEREST_MS = 5_000;

/** Sends the feeds of this coordinator's jobs to those coordinators whose clients read them. */
export class FeedPublisher {
  readonly #deps: FeedPublisherDeps;
  readonly #followers = new Map<string, FollowerStreams>();
  /**
   * Silent followers, with the jobs of clients that they read. Such a follower is dead, cut off or stands still; its clients are gone
   * only if it is dead.
   */
  readonly #silent = new Map<string, readonly string[]>();
  readonly #stops: readonly Unsubscribe[];
  #timer: Timer | null = null;
  #isClosed = false;

  constructor(deps: FeedPublisherDeps) {
    this.#deps = deps;
    const { bus, selfId } = deps;
    this.#stops = [
      bus.answer(`${selfId}.feed`, (request) => this.#open(request as OpenFeed)),
      bus.answer(`${selfId}.feeds`, async (request) => this.#renew(request as RenewFeeds)),
    ];
  }

  /** The job is not this coordinator's any more. */
  drop(jobId: string): void {
    for (const follower of this.#followers.values()) follower.drop(jobId);
  }

  /** Sends those who follow to the jobs' next owners. */
  close(): void {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    for (const follower of this.#followers.values()) follower.close();
    this.#followers.clear();
    this.#silent.clear();
    this.#timer?.cancel();
  }

  async #open({ follower, stream, jobId, after }: OpenFeed): Promise<OpenedFeed> {
    const { jobs } = this.#deps;
    this.#noteBack(follower);
    const job = jobs.get(jobId);
    if (job === undefined) return { is: "gone" };
    jobs.noteReader(jobId);
    const { feed } = job;
    await feed.load();
    // Another coordinator's since then. One that has ended stays whole.
    const isOurs = jobs.get(jobId) === job || feed.ending !== null;
    if (!isOurs || this.#isClosed) return { is: "gone" };
    if (feed.hasLost({ ...after, ended: false })) return { is: "lost" };
    const tail = new FeedTail(feed, after);
    const { place } = tail;
    const slice = tail.take(MAX_SLICE_CHARS);
    const blockedBy = tail.blockedBy(MAX_SLICE_CHARS);
    if (slice === null && blockedBy === "too_large") return { is: "too_large" };
    const more = !tail.isAtEnd && (blockedBy === null || blockedBy === "too_large");
    if (!more) this.#followerOf(follower).add(stream, feed, tail);
    return { is: "open", place, slice: slice === null ? null : toWire(slice), more };
  }

  #renew(request: RenewFeeds): RenewedFeeds {
    this.#noteBack(request.follower);
    const known = this.#followers.get(request.follower);
    const broken = known?.renew(request) ?? request.streams.map(([number]) => number);
    return { broken };
  }

  #followerOf(id: string): FollowerStreams {
    let follower = this.#followers.get(id);
    if (follower === undefined) {
      const { bus, clock } = this.#deps;
      follower = new FollowerStreams({ clock, send: (message) => bus.publish(`feed.${id}`, message) });
      this.#followers.set(id, follower);
      this.#timer ??= clock.schedule(INTEREST_MS, () => this.#sweep());
    }
    return follower;
  }

  #sweep(): void {
    const { clock, jobs, isLiving } = this.#deps;
    const untilMs = clock.monotonicMs() - INTEREST_MS;
    for (const [id, follower] of this.#followers) {
      if (follower.renewedMs > untilMs) continue;
      this.#silent.set(
        id,
        follower.jobIds.filter((jobId) => jobs.get(jobId)?.isClientBound === true),
      );
      follower.clear();
      this.#followers.delete(id);
    }
    for (const id of this.#silent.keys()) if (!isLiving(id)) this.#endSilence(id);
    this.#timer =
      this.#followers.size + this.#silent.size === 0 ? null : clock.schedule(INTEREST_MS, () => this.#sweep());
  }

  /** A client may have left while its coordinator could not say so. The follower opens the feeds again that it still wants. */
  #noteBack(id: string): void {
    if (this.#silent.has(id)) this.#endSilence(id);
  }

  /** The jobs of the follower's clients are cancelled unless somebody reads them again. */
  #endSilence(id: string): void {
    this.#deps.jobs.awaitReaders(this.#silent.get(id) ?? []);
    this.#silent.delete(id);
  }
}
