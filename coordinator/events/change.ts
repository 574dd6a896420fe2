import { z } from "zod";
import { JOB_ERROR_CODES } from "../../shared/errors.ts";
import { JOB_STATES } from "../../shared/job-state.ts";

const id = z.string().max(200);
const timeMs = z.number().int().min(0).max(8.64e15);

/** Schema of a change to an account's data. Messages between coordinators contain it in the same form. */
export const changeSchema = z.discriminatedUnion("type", [
  /** A job is new, or its state changed. `code`: error code of a failed job, otherwise null. */
  z.object({
    type: z.literal("job"),
    id,
    slug: id,
    state: z.enum(JOB_STATES),
    code: z.enum(JOB_ERROR_CODES).nullable(),
    batchId: id.nullable(),
    createdAtMs: timeMs,
    completedAtMs: timeMs.nullable(),
    atMs: timeMs,
  }),
  /** An Island connected or disconnected, or facts shown to its owner changed. */
  z.object({ type: z.literal("island"), id }),
  /** `account`: its address, role, limits, keys, sessions or Island tokens changed. */
  z.object({ type: z.enum(["balance", "account"]) }),
]);
export type Change = Readonly<z.infer<typeof changeSchema>>;
export type JobChange = Extract<Change, { type: "job" }>;

/** Maximum number of waiting changes. One more replaces all of them by a reset. */
export const MAX_WAITING = 500;

/** Changes that wait to be sent: the last change of each entity, or a reset that replaces all of them. */
export class WaitingChanges {
  readonly #byEntity = new Map<string, Change>();
  #isReset = false;

  get isEmpty(): boolean {
    return !this.#isReset && this.#byEntity.size === 0;
  }

  /** Adds a change, replacing an earlier one of its entity. No-op while a reset waits. */
  add(change: Change): void {
    if (this.#isReset) return;
    const entity = entityOf(change);
    this.#byEntity.delete(entity);
    this.#byEntity.set(entity, change);
    if (this.#byEntity.size > MAX_WAITING) this.reset();
  }

  removeJob(id: string): void {
    this.#byEntity.delete(entityOf({ type: "job", id }));
  }

  reset(): void {
    this.#byEntity.clear();
    this.#isReset = true;
  }

  /** Returns and removes the oldest changes, in order; null if a reset waits. */
  take(max = MAX_WAITING): Change[] | null {
    if (this.#isReset) {
      this.#isReset = false;
      return null;
    }
    const taken = [...this.#byEntity.values()].slice(0, max);
    for (const change of taken) this.#byEntity.delete(entityOf(change));
    return taken;
  }
}

function entityOf(change: { readonly type: string; readonly id?: string }): string {
  return `${change.type}:${change.id ?? ""}`;
}
