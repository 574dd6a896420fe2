import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { growingMs } from "../../shared/async/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Registration } from "../config/exposure.ts";
import { grantPostings } from "../credits/postings.ts";
import type { Env } from "../env.ts";
import { smtpMailer } from "../mail/smtp-mailer.ts";
import { type ResolvedLimits, resolveLimits } from "../quotas/account-limits.ts";
import { RequestWindow } from "../quotas/request-window.ts";
import type { Account, AccountStore } from "../store/accounts/accounts.ts";
import type { ApiKey, KeyChange, SessionRecord } from "../store/accounts/credentials.ts";
import { utcMonthOf } from "../store/accounts/key-spending.ts";
import { createKey, type CreateKeyParams, readKeyChange } from "./api-keys.ts";
import { lastUses, openBackground } from "./background.ts";
import { assertCredentials, assertEmail, assertPassword, readCredits } from "./credential-fields.ts";
import { accountDeleted, assertNotSuspended, type Identity, type SignedIn } from "./identity.ts";
import { openIslandTokens } from "./island-tokens.ts";
import { type CredentialRevisionSource, knownCallers } from "./known-callers.ts";
import { openEmailChanges, openSignUps } from "./mailed-tokens.ts";
import { openPasswordChanges, type PasswordCaller } from "./password-changes.ts";
import { openPasswords } from "./passwords.ts";
import { hashSecret, newSecret } from "./secrets.ts";

/** Lifetime of a session. Requests do not extend it. */
const SESSION_MS = 30 * 24 * 3_600_000;
/** Maximum sessions of an account. Rate limits count each session, so this bounds the requests of an account. */
const MAX_SESSIONS = 20;
/** Minimum time between two stored last uses of a session. */
const SESSION_USE_MS = 60_000;
/** Maximum sign-ins, registrations and password checks per minute, by network address and by account. */
const MAX_ATTEMPTS = 5;
/** Number of characters of the token's hash in a session id: 96 bits. */
const SESSION_ID_CHARS = 24;

/** A session as its account's owner sees it. */
export interface ShownSession extends Omit<SessionRecord, "tokenHash" | "accountId"> {
  readonly id: string;
  /** Whether the request that lists the sessions uses this one. */
  readonly isCurrent: boolean;
}

export type Accounts = ReturnType<typeof openAccounts>;

/**
 * Manages accounts, sessions and API keys. Returns each secret once and stores only its hash.
 * @param registration `closed`: accounts are created only with `createAccount`, by the operator.
 */
export function openAccounts(
  env: Pick<Env<"newAccountMicro" | "smtpUrl" | "mailFrom" | "publicUrl">, "config" | "clock" | "log">,
  store: AccountStore,
  registration: Registration,
  credentials: CredentialRevisionSource,
  passwords = openPasswords(),
) {
  const { config, clock, log } = env;
  const { smtpUrl, mailFrom } = config;
  const send = smtpUrl === null || mailFrom === null ? null : smtpMailer(smtpUrl, mailFrom);
  const background = openBackground(log);
  /** Counts sign-ins and registrations by network address, and password checks by account as well. */
  const attempts = new RequestWindow(clock);
  const beginSignIn = signInBackoff(clock);
  const identify = knownCallers(store, clock, credentials);
  const recordKey = lastUses(clock, background, "an API key", (id, atMs) => store.touchKey(id, atMs));
  const touchSession = (hash: string, atMs: number): Promise<void> => store.touchSession(hash, atMs);
  const recordSession = lastUses(clock, background, "a session", touchSession, SESSION_USE_MS);
  const onChanged = (): void => credentials.changed();
  const signUps = registration === "email" && send !== null ? openSignUps(env, store, send, background) : null;
  const emails = openEmailChanges(env, store, send, background);
  const islandTokens = openIslandTokens(store, clock, background, onChanged);
  const changes = openPasswordChanges(env, store, passwords, send, background, countAttempt, onChanged);

  function countAttempt(caller: string): void {
    const { isAllowed, freesInMs } = attempts.count(caller, MAX_ATTEMPTS);
    if (!isAllowed) throw new RateLimitedError("login_attempts", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }

  async function announce<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    onChanged();
    return result;
  }

  async function signIn(account: Account): Promise<SignedIn> {
    const createdAtMs = clock.now();
    const expiresAtMs = createdAtMs + SESSION_MS;
    const token = newSecret("st");
    const session = { tokenHash: hashSecret(token), accountId: account.id, createdAtMs, expiresAtMs };
    await announce(store.createSession(session, MAX_SESSIONS));
    return { token, expiresAtMs, account };
  }

  async function find(accountId: string): Promise<Account> {
    const account = await store.get(accountId);
    if (account === undefined) throw accountDeleted();
    return account;
  }

  const accounts = {
    passwordChanges: changes,
    islandTokens,
    authenticateIsland: (token: string) => islandTokens.authenticate(token),

    /**
     * Creates an account and signs it in. Returns null if the e-mail address must be verified first.
     * @throws {ServiceError} `email_taken`, unless e-mail addresses are verified; `insufficient_scope` if registration
     *   is closed; {@link ValidationError}; {@link RateLimitedError} by network address.
     */
    async register(email: string, password: string, address: string): Promise<SignedIn | null> {
      const closed = "Registration is closed on this coordinator; ask its operator for an account";
      if (registration !== "open" && signUps === null) throw new ServiceError("insufficient_scope", closed);
      countAttempt(address);
      if (signUps === null) return signIn(await accounts.createAccount({ email, password }));
      assertCredentials(email, password);
      signUps.request(email);
      return null;
    },

    /**
     * Creates the account for the e-mail address that the mailed token verifies, and signs it in.
     * @throws {ServiceError} `bad_request` for an invalid token; `insufficient_scope` if e-mail addresses are not
     *   verified; {@link ValidationError}; {@link RateLimitedError} by network address.
     */
    async verify(token: string, password: string, address: string): Promise<SignedIn> {
      if (signUps === null)
        throw new ServiceError("insufficient_scope", "This coordinator does not verify e-mail addresses");
      countAttempt(address);
      const account = await accounts.createAccount({ email: await signUps.findEmail(token), password });
      await signUps.done(token);
      return signIn(account);
    },

    /**
     * Signs in with a new session. An account keeps its newest 20 sessions.
     * @throws {ServiceError} `unauthenticated` for an unknown e-mail address or a wrong password; `account_suspended`;
     *   {@link RateLimitedError} by network address, or after many wrong passwords for the account.
     */
    async login(email: string, password: string, address: string): Promise<SignedIn> {
      countAttempt(address);
      const onSuccess = beginSignIn(email, address);
      const account = await store.getByEmail(email);
      const stored = account === undefined ? undefined : await store.passwordHash(account.id);
      const isRight = await passwords.verify(password, stored);
      if (account === undefined || !isRight) throw wrongPassword();
      onSuccess();
      await assertNotSuspended(store, account.id);
      const session = await signIn(account);
      // A concurrent password change ended only sessions that existed then, so this session is checked afterwards.
      if ((await store.passwordHash(account.id)) === stored) return session;
      await accounts.logout(session.token);
      throw wrongPassword();
    },

    /** Ends a session. No-op for an unknown token. */
    logout: (token: string): Promise<void> => announce(store.deleteSession(hashSecret(token))),

    /**
     * Deletes the caller's account with its sessions and credentials. `Retention.remove` deletes the content.
     * @throws {ValidationError} for a wrong password; {@link RateLimitedError}; {@link ServiceError} `not_found`
     */
    async delete(caller: PasswordCaller, password: string): Promise<void> {
      await changes.check(caller, password, "password");
      if (!(await announce(store.delete(caller.accountId, clock.now())))) {
        throw new ServiceError("not_found", "The account is already deleted");
      }
    },

    /**
     * Creates an account, even if registration is closed. `credits`: first grant; undefined for the configured default.
     * @throws {ServiceError} `email_taken`; {@link ValidationError}
     */
    async createAccount(params: {
      readonly email: string;
      readonly password: string;
      readonly credits?: number | undefined;
    }): Promise<Account> {
      const { email, password, credits } = params;
      assertCredentials(email, password);
      const grantMicro = credits === undefined ? config.newAccountMicro : readCredits(credits);
      // This check only saves the cost of a hash; `store.create` checks again.
      if ((await store.getByEmail(email)) !== undefined) {
        throw new ServiceError("email_taken", "An account with this e-mail address already exists");
      }
      const passwordHash = await passwords.hash(password);
      const createdAtMs = clock.now();
      const id = newId("user", createdAtMs);
      const postings = grantMicro === 0 ? [] : grantPostings(id, grantMicro);
      return store.create({ id, email, passwordHash, postings, createdAtMs });
    },

    /**
     * Changes the password, the e-mail address, or both. A new password ends all other sessions of the account.
     * @returns `pendingEmail`: the new address that must be confirmed with the token mailed to it, otherwise null.
     * @throws {ValidationError} also for a wrong current password; {@link RateLimitedError}; {@link ServiceError}
     *   `email_taken`, `not_found`
     */
    async change(
      caller: PasswordCaller,
      currentPassword: string,
      { password, email }: { readonly password?: string | undefined; readonly email?: string | undefined },
    ): Promise<{ readonly account: Account; readonly pendingEmail: string | null }> {
      if (password !== undefined) assertPassword(password, "password");
      if (email !== undefined) assertEmail(email);
      await changes.check(caller, currentPassword, "current_password");
      // The address is requested before the password changes: the request may be refused.
      const isChanged = email !== undefined && email !== (await find(caller.accountId)).email;
      const mailToken = isChanged ? await emails.request(caller.accountId, email) : null;
      if (password !== undefined) await changes.set(caller, password);
      mailToken?.();
      return { account: await find(caller.accountId), pendingEmail: mailToken === null ? null : (email ?? null) };
    },

    confirmEmail: (token: string) => emails.confirm(token),

    limits: async (accountId: string): Promise<ResolvedLimits> => resolveLimits(await store.limits(accountId)),

    /** Returns the account's sessions, newest first. */
    async listSessions({ accountId, tokenHash: current }: PasswordCaller): Promise<ShownSession[]> {
      const sessions = await store.listSessions(accountId, clock.now());
      return sessions.map(({ tokenHash, createdAtMs, lastUsedAtMs, expiresAtMs }) => {
        return { id: sessionIdOf(tokenHash), createdAtMs, lastUsedAtMs, expiresAtMs, isCurrent: tokenHash === current };
      });
    },

    /** Ends a session of the account. Returns its token hash; undefined if the account has no session with this id. */
    async endSession(accountId: string, id: string): Promise<string | undefined> {
      const sessions = await store.listSessions(accountId, clock.now());
      const session = sessions.find(({ tokenHash }) => sessionIdOf(tokenHash) === id);
      if (session !== undefined) await announce(store.deleteSession(session.tokenHash));
      return session?.tokenHash;
    },

    createKey: (accountId: string, params: CreateKeyParams = {}) => createKey(store, clock.now(), accountId, params),

    /** Returns the active keys of an account, newest first. */
    listKeys: (accountId: string) => store.listKeys(accountId),

    /** Changes a key. Returns undefined if the account has no such active key. @throws {ValidationError} */
    async changeKey(accountId: string, keyId: string, change: KeyChange): Promise<ApiKey | undefined> {
      const nowMs = clock.now();
      const changed = await store.changeKey(accountId, keyId, readKeyChange(change, nowMs), nowMs);
      if (changed !== undefined) onChanged();
      return changed;
    },

    /** Revokes a key. Returns false if the account has no such active key. */
    revokeKey: (accountId: string, keyId: string) => announce(store.revokeKey(accountId, keyId, clock.now())),

    /** Returns the micro-credits spent this month by key id, for keys with a monthly limit. */
    keySpending: (accountId: string) => store.keySpending(accountId, utcMonthOf(clock.now())),

    /**
     * Returns the caller to whom an API key or session token belongs, and records the use. Returns undefined for a
     * token that is invalid, revoked or expired. @throws {ServiceError} `key_expired` for an API key
     */
    async authenticate(token: string): Promise<Identity | undefined> {
      const identity = await identify(token);
      if (identity?.kind === "key") recordKey(identity.keyId);
      else if (identity !== undefined) recordSession(identity.tokenHash);
      return identity;
    },

    /** Reads storage. Returns false if the key was revoked, the session ended, or the operator role was withdrawn. */
    async isStillValid(identity: Identity): Promise<boolean> {
      const { accountId, role } = identity;
      const nowMs = clock.now();
      if (role === "operator" && (await store.accountStatus(accountId))?.role !== role) return false;
      if (identity.kind === "session") return (await store.findSession(identity.tokenHash, nowMs)) !== undefined;
      const isValid = ({ id, expiresAtMs }: ApiKey): boolean =>
        id === identity.keyId && (expiresAtMs === null || expiresAtMs > nowMs);
      return (await store.listKeys(accountId)).some(isValid);
    },

    /** Resolves when background writes and mails are done. Must be awaited before the store is closed. */
    settled: background.settled,
  };
  return accounts;
}

function wrongPassword(): ServiceError {
  return new ServiceError("unauthenticated", "Wrong e-mail address or password");
}

function sessionIdOf(tokenHash: string): string {
  return `ses_${tokenHash.slice(0, SESSION_ID_CHARS)}`;
}

/** Number of wrong passwords for an account that cause no delay. */
const FREE_FAILURES = 5;
const WAITS = { firstMs: 1_000, maxMs: 60_000 } as const;
/** Time without a wrong password after which the count restarts. */
const FORGET_MS = 900_000;
const MAX_EMAILS = 50_000;
const MAX_KNOWN_PAIRS = 50_000;
const MS_PER_S = 1_000;

/**
 * Slows down guessing of one account's password from many addresses. After the sixth wrong password the next
 * attempt must wait 1 s; each later failure doubles the delay, up to a minute. E-mail addresses without an account
 * count too, so that a delay does not reveal whether an account exists.
 *
 * An attacker cannot lock the owner out: a network address that has signed in to the account since the coordinator
 * started has no delay. From a new address, during an attack, the owner waits at most a minute.
 *
 * The returned function throws a {@link RateLimitedError} or starts an attempt. The attempt counts as a failure until
 * the function that it returns is called, so that concurrent attempts cannot bypass the limit.
 */
export function signInBackoff(clock: Pick<Clock, "monotonicMs">): (email: string, address: string) => () => void {
  /** Number and time of wrong passwords by e-mail address. */
  const failures = recentMap<{ readonly count: number; readonly atMs: number }>(MAX_EMAILS);
  /** Pairs of e-mail address and network address that have signed in. */
  const known = recentMap<true>(MAX_KNOWN_PAIRS);
  return (email, address) => {
    const key = email.toLowerCase();
    const pair = `${key} ${address}`;
    const remember = (): void => void known.set(pair, true);
    if (known.has(pair)) return remember;
    const nowMs = clock.monotonicMs();
    const last = failures.get(key);
    const before = last === undefined || nowMs - last.atMs > FORGET_MS ? 0 : last.count;
    const leftMs = (last?.atMs ?? 0) + waitMs(before) - nowMs;
    if (leftMs > 0) throw new RateLimitedError("login_attempts", Math.ceil(leftMs / MS_PER_S));
    failures.set(key, { count: before + 1, atMs: nowMs });
    return () => {
      remember();
      const now = failures.get(key);
      if (now !== undefined) failures.set(key, { ...now, count: Math.max(0, now.count - 1) });
    };
  };
}

function waitMs(failures: number): number {
  return failures < FREE_FAILURES ? 0 : growingMs(failures - FREE_FAILURES + 1, WAITS);
}
