import { z } from "zod";
import { JOB_ERROR_CODES } from "../../shared/errors.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { JobMemory } from "../jobs/job-memory.ts";

/** Memories in a message. */
const MAX_TOLD = 500;
/** Memories that are kept until their jobs are taken in. */
const MAX_HEARD = 10_000;
const MAX_LET_DOWNS = 100;
const id = z.string().max(200);
const memory = z.object({
  jobId: id,
  letDowns: z.array(z.object({ islandId: id, accountId: id })).max(MAX_LET_DOWNS),
  final: z
    .object({
      islandId: id,
      error: z.object({ code: z.enum(JOB_ERROR_CODES), message: z.string().max(10_000), retryable: z.boolean() }),
    })
    .nullable(),
  trace: z
    .string()
    .regex(/^00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/)
    .optional()
    .catch(undefined),
});
const message = z.object({ memories: z.array(memory).max(MAX_TOLD) });

/**
 * What no storage has of jobs that move goes to their new owner on `<id>.memories`, before the message that tells it of the jobs. Where it
 * is lost, the new owner knows as little as after a restart.
 */
export class JobMemories {
  readonly #bus: Pick<Bus, "publish">;
  readonly #heard = recentMap<JobMemory>(MAX_HEARD);
  readonly #unsubscribe: Unsubscribe;

  constructor(bus: Pick<Bus, "publish" | "subscribe">, selfId: string) {
    this.#bus = bus;
    this.#unsubscribe = bus.subscribe(subjectOf(selfId), (said) => {
      // What another version says otherwise is not known here.
      for (const each of message.safeParse(said).data?.memories ?? []) this.#heard.set(each.jobId, each);
    });
  }

  tell(toId: string, memories: readonly JobMemory[]): void {
    const bounded = memories.map((each) => ({ ...each, letDowns: each.letDowns.slice(-MAX_LET_DOWNS) }));
    for (let from = 0; from < bounded.length; from += MAX_TOLD)
      this.#bus.publish(subjectOf(toId), { memories: bounded.slice(from, from + MAX_TOLD) });
  }

  /** Once. */
  take(jobId: string): JobMemory | undefined {
    const heard = this.#heard.get(jobId);
    this.#heard.delete(jobId);
    return heard;
  }

  close(): void {
    this.#unsubscribe();
  }
}

function subjectOf(selfId: string): string {
  return `${selfId}.memories`;
}
