import type { Clock } from "../../shared/clock.ts";
import { ServiceError, type ErrorCode } from "../../shared/errors.ts";
import type { NotedStores } from "../store/all-steps.ts";
import type { AuditEntry } from "../store/accounts/audit-log.ts";
import type { Store } from "../store/store.ts";

/** Who acts, and from where. */
export type Actor = Pick<AuditEntry, "via" | "actor" | "origin">;

/** What is done, on what. */
export type Deed = Pick<AuditEntry, "action" | "targetKind" | "targetId"> &
  Partial<Pick<AuditEntry, "before" | "after">>;

/** What becomes of a deed is unknown: either nothing, or it is stored with its line. */
const UNKNOWN_ENDS: ReadonlySet<ErrorCode> = new Set(["storage_unavailable", "shutting_down"]);

/** Notes what operators do. */
export class AuditTrail {
  readonly #log: Pick<Store["audit"], "append" | "noting">;
  readonly #clock: Pick<Clock, "now">;

  constructor(log: Pick<Store["audit"], "append" | "noting">, clock: Pick<Clock, "now">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes what storage does not do itself, after it was done. */
  note(actor: Actor, deed: Deed): Promise<void> {
    return this.#log.append(this.#entryOf(actor, deed));
  }

  /** For one write of the deed, which has its line in the same commit. */
  noting(actor: Actor, deed: Deed): NotedStores {
    return this.#log.noting(this.#entryOf(actor, deed));
  }

  /** Lets `act` do the deed with one write, as {@link noting}. One that is refused is noted as `<action>.failed`, with what was tried. */
  async record<T>(actor: Actor, deed: Deed, act: (writes: NotedStores) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(actor, deed);
    try {
      return await act(this.#log.noting(entry));
    } catch (error) {
      if (error instanceof ServiceError && !UNKNOWN_ENDS.has(error.code)) {
        const after = { code: error.code, tried: entry.after };
        // The caller gets the error of the deed.
        await this.#log.append({ ...entry, action: `${deed.action}.failed`, after }).catch(() => undefined);
      }
      throw error;
    }
  }

  #entryOf(actor: Actor, { before = null, after = null, ...deed }: Deed): AuditEntry {
    return { ...actor, ...deed, before, after, atMs: this.#clock.now() };
  }
}
