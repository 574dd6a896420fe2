import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import { hashSecret } from "../accounts/secrets.ts";
import { InsufficientCreditsError } from "../credits/credit-errors.ts";
import { formatCredits, microFromCredits } from "../credits/micro-credits.ts";
import { changeLimits, resolveLimits, type ResolvedLimits } from "../quotas/account-limits.ts";
import type { AccountLimits, Role } from "../store/accounts/accounts.ts";
import { GRANT_ACTION, type AccountFilter, type GrantNote, type KnownAccount } from "../store/accounts/operators.ts";
import type { Page } from "../store/steps/page.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

/** An account with the limits in force. */
export interface AccountDetail extends KnownAccount {
  readonly limits: ResolvedLimits;
}

/** Credits for an account; negative: taken back. */
interface CreditGrant {
  readonly credits: number;
  /** Shown to the account. Needed where credits are taken back. */
  readonly note: string | null;
}

/** Characters of what an operator says of a grant. */
export const MAX_GRANT_NOTE = 200;
const NOTE_NEEDED = "is needed to take credits back; the account sees it in its ledger";

/** Characters of what an operator says of a suspension. */
export const MAX_BECAUSE = 500;

/** Operations on accounts, by the API and by commands. */
export type OperatorAccounts = ReturnType<typeof operatorAccounts>;

/** @param onChanged Called after a change of limits, roles or suspensions. Resolves when it counts here. */
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
    /** Newest first. */
    list: (filter: AccountFilter, page: Page): Promise<{ accounts: KnownAccount[]; total: number }> =>
      store.operators.accounts(filter, page),

    /** @throws {ServiceError} `not_found` */
    async get(accountId: string): Promise<AccountDetail> {
      const [account, limits] = await Promise.all([knownAccount(accountId), store.accounts.limits(accountId)]);
      return { ...account, limits: resolveLimits(limits) };
    },

    /** Null restores a default. @throws {ServiceError} `not_found`; {@link ValidationError} */
    async setLimits(actor: Actor, accountId: string, limits: Partial<AccountLimits>): Promise<ResolvedLimits> {
      const stored = (await knownAccount(accountId)) && (await store.accounts.limits(accountId));
      const before = Object.fromEntries(
        Object.keys(limits).map((name) => [name, stored?.[name as keyof AccountLimits]]),
      );
      const auditEvent = { ...target(accountId), action: "account.limits", before, after: limits };
      const changed = await trail.record(actor, auditEvent, ({ accounts }) =>
        changeLimits(accounts, accountId, limits),
      );
      await onChanged();
      return changed;
    },

    /**
     * Gives credits, or takes them back where `credits` is negative. Resolves with the balance. With an `idempotencyKey`, a request that is repeated grants once: the audit log has the key's hash.
     * @throws {ServiceError} `not_found`; `idempotency_conflict` for a key that came with another amount; `bad_request` beyond what an account
     *   may have, and for more than it has; {@link ValidationError}
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
     * Only for commands: who has stolen a session must not make operators. Nothing happens to an account that has the role.
     * @throws {ServiceError} `not_found`; `bad_request` for a suspended one that is to be an operator's
     */
    async setRole(actor: Actor, accountId: string, role: Role): Promise<void> {
      const { role: before, suspension } = await knownAccount(accountId);
      if (before === role) return;
      if (suspension !== null && role === "operator") {
        throw new ServiceError("bad_request", "The account is suspended: reinstate it first");
      }
      const auditEvent = { ...target(accountId), action: "account.role", before: { role: before }, after: { role } };
      await trail.record(actor, auditEvent, async ({ operators }) => {
        if (!(await operators.setRole(accountId, role))) throw changedMeanwhile(accountId);
      });
      await onChanged();
    },

    /**
     * Its requests are refused from now on, with sessions and keys alike; its streams, jobs and Islands' sessions end everywhere.
     * @throws {ServiceError} `not_found`; `bad_request` for an operator's account. Nothing happens to one that is suspended.
     */
    async suspend(actor: Actor, accountId: string, because: string): Promise<void> {
      const { role, suspension } = await knownAccount(accountId);
      if (role === "operator") {
        throw new ServiceError(
          "bad_request",
          "An operator is not suspended: take the role away first, with the command `account role --user`",
        );
      }
      if (suspension !== null) return;
      const auditEvent = { ...target(accountId), action: "account.suspend", after: { because } };
      await trail.record(actor, auditEvent, async ({ operators }) => {
        const isDone = await operators.suspendAccount(accountId, { because, atMs: clock.now() });
        if (!isDone && (await knownAccount(accountId)).suspension === null) throw changedMeanwhile(accountId);
      });
      await onChanged();
    },

    /** Keys, sessions and Island tokens count again. @throws {ServiceError} `not_found` */
    async reinstate(actor: Actor, accountId: string): Promise<void> {
      const { suspension } = await knownAccount(accountId);
      if (suspension === null) return;
      const auditEvent = { ...target(accountId), action: "account.reinstate", before: { because: suspension.because } };
      await trail.record(actor, auditEvent, ({ operators }) => operators.reinstateAccount(accountId));
      await onChanged();
    },
  };
}

const target = (targetId: string) => ({ targetKind: "account", targetId }) as const;

/** An operator made it an operator's, or its owner deleted it. */
function changedMeanwhile(accountId: string): ServiceError {
  return new ServiceError("bad_request", `The account "${accountId}" was changed meanwhile: look at it, and try again`);
}

/** @throws {ValidationError} */
function readGrant(credits: number): number {
  try {
    const micro = Math.sign(credits) * microFromCredits(Math.abs(credits));
    if (micro !== 0) return micro;
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
  }
  throw new ValidationError([
    { path: "credits", message: "must not be 0, from -4000000000 to 4000000000, with at most 6 decimals" },
  ]);
}
