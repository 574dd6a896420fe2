import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { AuditEntry, AuditLog } from "../store/audit-log.ts";

/** Who acts, and from where. */
export type Actor = Pick<AuditEntry, "via" | "actor" | "origin">;

/** What is done, on what. */
export type Deed = Pick<AuditEntry, "action" | "targetKind" | "targetId"> &
  Partial<Pick<AuditEntry, "before" | "after">>;

/** Notes what operators do. */
export class AuditTrail {
  readonly #log: Pick<AuditLog, "append">;
  readonly #clock: Pick<Clock, "now">;

  constructor(log: Pick<AuditLog, "append">, clock: Pick<Clock, "now">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes what was done already, and could not be named before. */
  note(actor: Actor, { before = null, after = null, ...deed }: Deed): Promise<void> {
    return this.#log.append({ ...actor, ...deed, before, after, atMs: this.#clock.now() });
  }

  /**
   * Notes the deed, then does it: nothing is done that cannot be noted. One that fails is noted again, as `<action>.failed`. After a crash
   * between the two, a deed is noted that was not done.
   */
  async record<T>(actor: Actor, deed: Deed, act: () => Promise<T>): Promise<T> {
    const { before = null, after = null } = deed;
    const entry: AuditEntry = { ...actor, ...deed, before, after, atMs: this.#clock.now() };
    await this.#log.append(entry);
    try {
      return await act();
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : "internal";
      const failure = { ...entry, action: `${deed.action}.failed`, before: null, after: { code } };
      // The caller gets the error of the deed.
      await this.#log.append(failure).catch(() => undefined);
      throw error;
    }
  }
}
