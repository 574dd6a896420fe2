import type { Feed } from "../jobs/feed.ts";
import { FeedTail } from "../jobs/feed-tail.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import { nextToWire, toWire } from "./feed-wire.ts";
import { MESSAGES, type FeedFrame, type QuestionOf } from "./messages.ts";
import { FollowerSilent, MAX_FRAME_CHARS, type Sized } from "./peer-streams.ts";
import type { Peers } from "./peers.ts";

/** A feed that is being sent to a peer. */
interface Sent {
  readonly feed: Feed;
  isGone: boolean;
  wake: () => void;
}

/** Sends the feeds of this coordinator's jobs to peers. `drop` must be called when another coordinator owns a job. */
export function publishFeeds(
  peers: Pick<Peers, "serve">,
  jobs: Pick<JobRegistry, "get" | "noteReader" | "awaitReaders">,
): { readonly drop: (jobId: string) => void } {
  const sending = new Map<string, Set<Sent>>();

  async function* send(
    { jobId, after }: QuestionOf<typeof MESSAGES.feed>,
    _fromId: string,
    signal: AbortSignal,
  ): AsyncGenerator<Sized<FeedFrame>> {
    const job = jobs.get(jobId);
    if (job === undefined) return;
    jobs.noteReader(jobId);
    // The clients of a silent follower are gone only if the follower is dead or returns without them.
    const noteSilence = (): void => {
      const reason: unknown = signal.reason;
      if (job.isClientBound && reason instanceof FollowerSilent) reason.onOver(() => jobs.awaitReaders([jobId]));
    };
    signal.addEventListener("abort", noteSilence, { once: true });
    const { feed } = job;
    await feed.load();
    // Another coordinator may own the job now. The feed of an ended job is complete anyway.
    if ((jobs.get(jobId) !== job && feed.ending === null) || signal.aborted) return;
    if (feed.hasLost({ ...after, ended: false })) {
      yield faultFrame("lost");
      return;
    }
    const tail = new FeedTail(feed, after);
    const { start } = tail;
    const first = tail.take(MAX_FRAME_CHARS);
    const blockedBy = tail.blockedBy(MAX_FRAME_CHARS);
    if (first === null && blockedBy === "too_large") {
      yield faultFrame("too_large");
      return;
    }
    const more = !tail.isAtEnd && (blockedBy === null || blockedBy === "too_large");
    const slice = first === null ? { from: start.index, parts: [] } : toWire(first);
    const opened = { frame: { ...slice, opened: { ...start, more } }, chars: first?.chars ?? 0 };
    if (more) {
      yield opened;
      return;
    }
    const sent: Sent = { feed, isGone: false, wake: () => undefined };
    const wake = (): void => sent.wake();
    const unsubscribe = feed.subscribe(wake);
    signal.addEventListener("abort", wake, { once: true });
    sending.set(jobId, (sending.get(jobId) ?? new Set()).add(sent));
    try {
      yield opened;
      while (!tail.isOver && !sent.isGone && !signal.aborted) {
        const slice = tail.take(MAX_FRAME_CHARS);
        if (slice !== null) {
          yield { frame: nextToWire(slice), chars: slice.chars };
          continue;
        }
        const blocked = tail.blockedBy(MAX_FRAME_CHARS);
        if (blocked === "too_large") {
          yield faultFrame("too_large");
          return;
        }
        const changed = new Promise<void>((resolve) => (sent.wake = resolve));
        // Wait for the large value that is being stored.
        await (blocked === null ? changed : Promise.race([blocked, changed]));
      }
    } finally {
      unsubscribe();
      signal.removeEventListener("abort", wake);
      const others = sending.get(jobId);
      others?.delete(sent);
      if (others?.size === 0) sending.delete(jobId);
    }
  }

  peers.serve(MESSAGES.feed, send);
  return {
    drop(jobId) {
      for (const sent of sending.get(jobId) ?? []) {
        if (sent.feed.ending !== null) continue;
        sent.isGone = true;
        sent.wake();
      }
    },
  };
}

function faultFrame(fault: "lost" | "too_large"): Sized<FeedFrame> {
  return { frame: { from: 0, parts: [], fault }, chars: 0 };
}
