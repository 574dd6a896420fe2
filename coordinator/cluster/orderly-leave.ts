import { abortable } from "../../shared/abortable.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { JobRegistry } from "../jobs/job-registry.ts";
import type { Peer } from "../store/cluster-store.ts";
import type { JobMover } from "./job-mover.ts";
import type { Members } from "./members.ts";

/** Jobs that are handed over in one commit, and told of in one message. */
const PART = 500;
/** Longest wait for a peer to take a part in. */
const TAKE_MS = 5_000;

export interface HandOverDeps {
  readonly members: Members;
  readonly mover: Pick<JobMover, "handOver">;
  readonly jobs: Pick<JobRegistry, "list">;
  readonly bus: Pick<Bus, "request" | "downBecause">;
  /** The living peer with most free slots; undefined where nobody knows. */
  readonly freestPeer: () => Peer | undefined;
  /** When it aborts, the rest stays behind. */
  readonly signal: AbortSignal;
  readonly log: Pick<Logger, "info" | "warn">;
}

/** Answers `<id>.take`: jobs that a peer gave to this coordinator. */
export function answerTakes(bus: Pick<Bus, "answer">, selfId: string, mover: Pick<JobMover, "takeIn">): Unsubscribe {
  return bus.answer(`${selfId}.take`, async (message) => {
    await mover.takeIn(readJobIds(message));
    return null;
  });
}

/**
 * Gives the waiting jobs of a coordinator that stops to a peer. Resolves with their number. What stays behind is adopted by the others:
 * the jobs that Islands have, and all where no peer lives or the bus is down.
 */
export async function handOverWaiting(deps: HandOverDeps): Promise<number> {
  const { members, mover, jobs, bus, freestPeer, signal, log } = deps;
  const peer = freestPeer() ?? members.living.find(({ id }) => id !== members.self.id);
  // A peer that is not told of its jobs would not run them.
  if (peer === undefined || bus.downBecause !== null) return 0;
  const waiting = [...jobs.list()].filter(({ state }) => state === "pending").map(({ id }) => id);
  let count = 0;
  try {
    for (let from = 0; from < waiting.length; from += PART) {
      const moved = await abortable(mover.handOver(waiting.slice(from, from + PART), peer.id), signal);
      count += moved.length;
      if (moved.length > 0) await abortable(bus.request(`${peer.id}.take`, { jobIds: moved }, TAKE_MS), signal);
    }
  } catch (error) {
    log.warn({ err: error, peer: peer.id }, "Not all waiting jobs were handed over: the others find them");
  }
  if (count > 0) log.info({ count, peer: peer.id }, "Handed waiting jobs over");
  return count;
}

function readJobIds(message: unknown): string[] {
  const { jobIds } = message as { readonly jobIds?: unknown };
  if (!Array.isArray(jobIds)) throw new TypeError("jobIds: missing");
  return jobIds.filter((id) => typeof id === "string").slice(0, PART);
}
