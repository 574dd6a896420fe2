import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { NEW_STANDING, PROVEN_AFTER, type StandingState } from "../credits/standing.ts";
import type { KnownStanding, StandingFilter, StoredStanding } from "../store/audits.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

export type OperatorStandings = ReturnType<typeof operatorStandings>;

/**
 * Operations on the standings of owners, for the API and for commands.
 * @param isCargo returns whether the catalog contains a Cargo
 * @param onChanged called after a change, which other coordinators notice within a second
 */
export function operatorStandings(
  store: Pick<Store, "audits" | "operators">,
  trail: AuditTrail,
  clock: Pick<Clock, "now">,
  isCargo: (slug: string) => boolean,
  onChanged: (stored: StoredStanding) => void = () => {},
) {
  return {
    /** Returns a page of stored standings, the latest change first. */
    list: (filter: StandingFilter, page: Page) => store.audits.list(filter, page),

    /**
     * Sets the standing of an owner with a Cargo. Held earnings are paid, or refunded to clients in quarantine.
     * @throws {ServiceError} `not_found`, `cargo_not_found`; `bad_request` for an operator's account
     */
    async set(
      actor: Actor,
      accountId: string,
      slug: string,
      { state, reason }: { readonly state: StandingState; readonly reason: string },
    ): Promise<KnownStanding> {
      const account = await store.operators.account(accountId);
      if (account === undefined) throw new ServiceError("not_found", `There is no account "${accountId}"`);
      if (!isCargo(slug)) throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
      if (account.role !== "user") {
        throw new ServiceError("bad_request", "The account is an operator's, whose Islands are always trusted");
      }
      const { standings } = await store.audits.list({ accountId, slug }, { limit: 1, offset: 0 });
      const before = standings[0]?.standing.state ?? "new";
      const auditEvent = {
        action: "account.standing",
        targetKind: "account",
        targetId: accountId,
        before: { cargo: slug, state: before },
        after: { cargo: slug, state, because: reason },
      } as const;
      const streak = state === "proven" ? PROVEN_AFTER : 0;
      const stored = { ownerAccountId: accountId, slug, standing: { ...NEW_STANDING, state, streak, reason } };
      const changedAtMs = clock.now();
      await trail.record(actor, auditEvent, ({ audits }) => audits.set(stored, changedAtMs));
      onChanged(stored);
      return { ...stored, changedAtMs, email: account.email };
    },
  };
}
