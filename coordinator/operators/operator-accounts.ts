import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { hashSecret } from "../accounts/secrets.ts";
import { InsufficientCreditsError } from "../credits/credit-errors.ts";
import { formatCredits, microFromCredits } from "../credits/micro-credits.ts";
import { assertLimits, resolveLimits, type ResolvedLimits } from "../quotas/account-limits.ts";
import type { AccountLimits, Role } from "../store/accounts/accounts.ts";
import { GRANT_ACTION, type AccountFilter, type GrantNote, type KnownAccount } from "../store/accounts/operators.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

export interface AccountDetail extends KnownAccount {
  readonly limits: ResolvedLimits;
}

/** Credits for an account; negative to take credits back. */
interface CreditGrant {
  readonly credits: number;
  /** Note that the account sees; required to take credits back. */
  readonly note: string | null;
}

export const MAX_GRANT_NOTE = 200;
const NOTE_NEEDED = "is needed to take credits back; the account sees it in its ledger";
/** Maximum length of the reason of a suspension, in characters. */
export const MAX_REASON_CHARS = 500;

export type OperatorAccounts = ReturnType<typeof operatorAccounts>;

/**
 * Operations on accounts, for the API and for commands.
 * @param onChanged called after a change of limits, roles or suspensions; resolves when it is in force here
 */
export function operatorAccounts(
  store: Pick<Store, "accounts" | "operators">,
  trail: AuditTrail,
  clock: Pick<Clock, "now">,
  onChanged: () => Promise<void> = async () => {},
) {
  const knownAccount = async (accountId: string): Promise<KnownAccount> => {
    const account = await store.operators.account(accountId);
    if (account === undefined) throw new ServiceError("not_found", `There is no account "${accountId}"`);
    return account;
  };

  return {
    /** Returns a page of accounts, newest first. */
    list: (filter: AccountFilter, page: Page) => store.operators.accounts(filter, page),

    /** Returns an account with its limits. @throws {ServiceError} `not_found` */
    async get(accountId: string): Promise<AccountDetail> {
      const [account, limits] = await Promise.all([knownAccount(accountId), store.accounts.limits(accountId)]);
      return { ...account, limits: resolveLimits(limits) };
    },

    /** Changes limits; null restores a default. @throws {ServiceError} `not_found`; {@link ValidationError} */
    async setLimits(actor: Actor, accountId: string, limits: Partial<AccountLimits>): Promise<ResolvedLimits> {
      const stored = (await knownAccount(accountId)) && (await store.accounts.limits(accountId));
      const names = Object.keys(limits) as (keyof AccountLimits)[];
      const before = Object.fromEntries(names.map((name) => [name, stored?.[name]]));
      const auditEvent = { ...target(accountId), action: "account.limits", before, after: limits };
      const changed = await trail.record(actor, auditEvent, async ({ accounts }) => {
        assertLimits(limits);
        return accounts.setLimits(accountId, limits);
      });
      await onChanged();
      return resolveLimits(changed);
    },

    /**
     * Grants credits and returns the balance. A repeat with the same `idempotencyKey`, found by its hash in the audit
     * log, grants nothing.
     * @throws {ServiceError} `not_found`; `idempotency_conflict` if the key was used with another amount; `bad_request`
     *   if the balance would exceed its limit or become negative; {@link ValidationError}
     */
    async grant(
      actor: Actor,
      accountId: string,
      { credits, note }: CreditGrant,
      idempotencyKey: string | null = null,
    ): Promise<number> {
      const micro = readGrant(credits);
      if (micro < 0 && note === null) throw new ValidationError([{ path: "note", message: NOTE_NEEDED }]);
      const { balanceMicro, email } = await knownAccount(accountId);
      const key = idempotencyKey === null ? null : { idempotencyKey: hashSecret(idempotencyKey) };
      const after: GrantNote = { grantMicro: micro, ...(note === null ? {} : { note }), ...key };
      const auditEvent = { ...target(accountId), action: GRANT_ACTION, before: { balanceMicro }, after };
      const repeat = key && { actor: actor.actor, ...key };
      await trail.record(actor, auditEvent, ({ operators }) =>
        operators.grant({ accountId, micro, note, atMs: clock.now(), repeat }).catch((error: unknown) => {
          if (!(error instanceof InsufficientCreditsError)) throw error;
          const has = formatCredits(error.balanceMicro);
          const text = `${email} has ${has} credits to spend, so at most ${has} can be taken back, not ${-credits}`;
          throw new ServiceError("bad_request", text, { cause: error });
        }),
      );
      return (await store.accounts.get(accountId))?.balanceMicro ?? 0;
    },

    /**
     * Sets the role of an account. Only commands call it, because a stolen session must not create operators.
     * @throws {ServiceError} `not_found`; `bad_request` if a suspended account would become an operator
     */
    async setRole(actor: Actor, accountId: string, role: Role): Promise<void> {
      const { role: before, suspension } = await knownAccount(accountId);
      if (before === role) return;
      if (suspension !== null && role === "operator") {
        throw new ServiceError("bad_request", "The account is suspended. Reinstate it first");
      }
      const auditEvent = { ...target(accountId), action: "account.role", before: { role: before }, after: { role } };
      await trail.record(actor, auditEvent, async ({ operators }) => {
        if (!(await operators.setRole(accountId, role))) throw accountChanged(accountId);
      });
      await onChanged();
    },

    /**
     * Suspends an account: its sessions and keys are refused, and its streams, jobs and Island sessions end everywhere.
     * @throws {ServiceError} `not_found`; `bad_request` for an operator's account
     */
    async suspend(actor: Actor, accountId: string, reason: string): Promise<void> {
      const { role, suspension } = await knownAccount(accountId);
      if (role === "operator") {
        const message = "An operator cannot be suspended. First remove the role with the command `account role --user`";
        throw new ServiceError("bad_request", message);
      }
      if (suspension !== null) return;
      const auditEvent = { ...target(accountId), action: "account.suspend", after: { because: reason } };
      await trail.record(actor, auditEvent, async ({ operators }) => {
        const isDone = await operators.suspendAccount(accountId, { reason, atMs: clock.now() });
        if (!isDone && (await knownAccount(accountId)).suspension === null) throw accountChanged(accountId);
      });
      await onChanged();
    },

    /** Ends a suspension; keys, sessions and Island tokens are valid again. @throws {ServiceError} `not_found` */
    async reinstate(actor: Actor, accountId: string): Promise<void> {
      const { suspension } = await knownAccount(accountId);
      if (suspension === null) return;
      const auditEvent = { ...target(accountId), action: "account.reinstate", before: { because: suspension.reason } };
      await trail.record(actor, auditEvent, ({ operators }) => operators.reinstateAccount(accountId));
      await onChanged();
    },
  };
}

const target = (targetId: string) => ({ targetKind: "account", targetId }) as const;

/** Returns the error for an account that was made an operator or deleted concurrently. */
function accountChanged(accountId: string): ServiceError {
  const message = `The account "${accountId}" has changed in the meantime. Review it and try again`;
  return new ServiceError("bad_request", message);
}

/** Converts credits, which may be negative, to micro-credits. @throws {ValidationError} */
function readGrant(credits: number): number {
  try {
    const micro = Math.sign(credits) * microFromCredits(Math.abs(credits));
    if (micro !== 0) return micro;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  const message = "must be -4000000000 to 4000000000 but not 0, with at most 6 decimals";
  throw new ValidationError([{ path: "credits", message }]);
}
