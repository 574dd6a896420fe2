import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { RateLimitedError, ServiceError } from "../../shared/errors.ts";
import { newId } from "../../shared/ids.ts";
import { grantPostings } from "../credits/postings.ts";
import { changeLimits, resolveLimits, type ResolvedLimits } from "../quotas/account-limits.ts";
import { RequestWindow } from "../quotas/request-window.ts";
import type { Account, AccountLimits, AccountStore } from "../store/accounts/accounts.ts";
import type { ApiKey } from "../store/accounts/credentials.ts";
import type { IslandToken } from "../store/island-tokens.ts";
import { AccountSettings, type AccountSettingsDeps } from "./account-settings.ts";
import { CredentialUses } from "./credential-uses.ts";
import { createKey, type KeyWish } from "./create-key.ts";
import { assertCredentials, readCredits } from "./credential-fields.ts";
import type { EmailSignUps } from "./email-sign-ups.ts";
import type { Identity, IslandIdentity, SignedIn } from "./identity.ts";
import { IslandTokens, type NewIslandSecret } from "./island-tokens.ts";
import { KnownCallers, type CredentialNews } from "./known-callers.ts";
import { MAX_ATTEMPTS, PasswordChanges, type PasswordCaller, type SendReset } from "./password-changes.ts";
import { Passwords } from "./passwords.ts";
import { hashSecret, newSecret } from "./secrets.ts";
import { SignInBackoff } from "./sign-in-backoff.ts";
import { assertNotSuspended } from "./suspended.ts";

const SESSION_MS = 30 * 24 * 3_600_000;
/** Per account, as that of keys. Requests are counted by key and by session, so these limits bound the requests of an account. */
const MAX_SESSIONS = 20;

const wrongPassword = (): ServiceError => new ServiceError("unauthenticated", "Wrong e-mail address or password");

export interface AccountServiceDeps {
  readonly store: AccountStore;
  readonly clock: Clock;
  /** Credits of a new account, in micro-credits. */
  readonly newAccountMicro: number;
  /** `closed`: only the operator makes accounts, with `createAccount`. */
  readonly registration: "open" | "closed" | EmailSignUps;
  readonly log: Pick<Logger, "error">;
  /** Absent: what storage says counts for every request. */
  readonly credentials?: CredentialNews | undefined;
  /** Default: at the full cost of a hash. */
  readonly passwords?: Passwords;
  /** Mails password resets. Without it only the operator makes them. */
  readonly sendReset?: SendReset | undefined;
  /** By which a new address is proved. Absent: an address changes without a proof. */
  readonly mail?: AccountSettingsDeps["mail"];
}

/** Accounts, sessions, API keys and Island tokens. Makes secrets, returns them once and stores only hashes. */
export class AccountService {
  /** Changes and resets of passwords. */
  readonly passwordChanges: PasswordChanges;
  readonly settings: AccountSettings;
  readonly islandTokens: IslandTokens;
  readonly #deps: AccountServiceDeps;
  readonly #passwords: Passwords;
  /** Sign-ins and registrations by address. */
  readonly #attempts: RequestWindow;
  readonly #backoff: SignInBackoff;
  readonly #uses: CredentialUses;
  readonly #callers: KnownCallers;

  constructor(deps: AccountServiceDeps) {
    const { store, clock, log } = deps;
    const onChanged = (): void => deps.credentials?.changed();
    this.#deps = deps;
    this.#passwords = deps.passwords ?? new Passwords();
    this.#attempts = new RequestWindow(clock);
    this.islandTokens = new IslandTokens(store, clock, log);
    const [passwords, attempts] = [this.#passwords, this.#attempts];
    this.passwordChanges = new PasswordChanges({
      store,
      clock,
      log,
      passwords,
      attempts,
      sendReset: deps.sendReset ?? null,
      onChanged,
    });
    this.#backoff = new SignInBackoff(clock);
    this.#callers = new KnownCallers(store, clock, deps.credentials);
    const settingsDeps = { store, clock, log, mail: deps.mail, onChanged };
    this.settings = new AccountSettings({ ...settingsDeps, passwords: this.passwordChanges });
    this.#uses = new CredentialUses({ clock, store, log });
  }

  /**
   * Makes an account and signs it in; null where its address must be proved first, see {@link verify}. `address`: network address of
   * the client.
   * @throws {ServiceError} `email_taken`, not where addresses are proved; `insufficient_scope` if registration is closed;
   *   {@link ValidationError}; {@link RateLimitedError} after 5 sign-ins and registrations of the address within a minute.
   */
  async register(email: string, password: string, address: string): Promise<SignedIn | null> {
    const { registration } = this.#deps;
    if (registration === "closed") {
      throw new ServiceError(
        "insufficient_scope",
        "Registration is closed on this coordinator; ask its operator for an account",
      );
    }
    this.#countAttempt(address);
    if (registration === "open") return this.#signIn(await this.createAccount({ email, password }));
    assertCredentials(email, password);
    registration.request(email);
    return null;
  }

  /**
   * Makes the account whose address the mailed token proves, and signs it in.
   * @throws {ServiceError} `bad_request` for a wrong token; `insufficient_scope` where no address is proved; {@link ValidationError};
   *   {@link RateLimitedError} like {@link register}.
   */
  async verify(token: string, password: string, address: string): Promise<SignedIn> {
    const { registration } = this.#deps;
    if (typeof registration === "string") {
      throw new ServiceError("insufficient_scope", "This coordinator does not prove e-mail addresses");
    }
    this.#countAttempt(address);
    const account = await this.createAccount({ email: await registration.emailOf(token), password });
    await registration.done(token);
    return this.#signIn(account);
  }

  /**
   * Begins a session. An account has at most 20: the oldest ones end.
   * @throws {ServiceError} `unauthenticated`, the same for an unknown address and a wrong password; `account_suspended`;
   *   {@link RateLimitedError} after 5 sign-ins and registrations of the address within a minute, or many wrong passwords of the account.
   */
  async login(email: string, password: string, address: string): Promise<SignedIn> {
    this.#countAttempt(address);
    const attempt = this.#backoff.begin(email, address);
    const account = await this.#deps.store.getByEmail(email);
    const stored = account === undefined ? undefined : await this.#deps.store.passwordHash(account.id);
    const isRight = await this.#passwords.verify(password, stored);
    if (account === undefined || !isRight) throw wrongPassword();
    attempt.succeeded();
    await assertNotSuspended(this.#deps.store, account.id);
    const session = await this.#signIn(account);
    // Who changed the password while this one was checked has ended only the sessions before this one.
    if ((await this.#deps.store.passwordHash(account.id)) === stored) return session;
    await this.logout(session.token);
    throw wrongPassword();
  }

  /** Ends the session of the token, if there is one. */
  logout(token: string): Promise<void> {
    return this.#announce(this.#deps.store.deleteSession(hashSecret(token)));
  }

  /**
   * Deletes the caller's account as far as signing in goes; its content follows (`Retention.remove`). Cannot be undone.
   * @throws {ValidationError} for a wrong password; {@link RateLimitedError}; {@link ServiceError} `not_found` if it is deleted already.
   */
  async delete(caller: PasswordCaller, password: string): Promise<void> {
    const { store, clock } = this.#deps;
    await this.passwordChanges.check(caller, password, "password");
    if (!(await this.#announce(store.delete(caller.accountId, clock.now())))) {
      throw new ServiceError("not_found", "The account was deleted already");
    }
  }

  /**
   * Makes an account, also while registration is closed. `credits`: undefined for the default of new accounts.
   * @throws {ServiceError} `email_taken`; {@link ValidationError}
   */
  async createAccount(wish: {
    readonly email: string;
    readonly password: string;
    readonly credits?: number | undefined;
  }): Promise<Account> {
    const { email, password, credits } = wish;
    const { store, clock, newAccountMicro } = this.#deps;
    assertCredentials(email, password);
    const grantMicro = credits === undefined ? newAccountMicro : readCredits(credits);
    // Checked first to save a hash; the store has the final check.
    if ((await store.getByEmail(email)) !== undefined) {
      throw new ServiceError("email_taken", "There is an account with this e-mail address");
    }
    const passwordHash = await this.#passwords.hash(password);
    const createdAtMs = clock.now();
    const id = newId("user", createdAtMs);
    const postings = grantMicro === 0 ? [] : grantPostings(id, grantMicro);
    return store.create({ id, email, passwordHash, postings, createdAtMs });
  }

  /** The limits in force for the account. */
  async limits(accountId: string): Promise<ResolvedLimits> {
    return resolveLimits(await this.#deps.store.limits(accountId));
  }

  /** Like {@link changeLimits}. */
  setLimits(accountId: string, limits: Partial<AccountLimits>): Promise<ResolvedLimits> {
    return this.#announce(changeLimits(this.#deps.store, accountId, limits));
  }

  /**
   * Makes an API key; `secret` is returned this once. A revoked key still counts for a minute, as long as its requests count: else an
   * account could evade its limit with ever new keys.
   * @throws {ServiceError} `too_many_keys` if the account has 50; {@link ValidationError}
   */
  createKey(accountId: string, wish: KeyWish = {}): Promise<{ key: ApiKey; secret: string }> {
    const { store, clock } = this.#deps;
    return createKey(store, clock.now(), accountId, wish);
  }

  /** Active ones, newest first. */
  listKeys(accountId: string): Promise<ApiKey[]> {
    return this.#deps.store.listKeys(accountId);
  }

  /** False if the account has no such active key. */
  revokeKey(accountId: string, keyId: string): Promise<boolean> {
    return this.#announce(this.#deps.store.revokeKey(accountId, keyId, this.#deps.clock.now()));
  }

  /** Like {@link IslandTokens.create}. */
  createIslandToken(accountId: string, name?: string): Promise<NewIslandSecret> {
    return this.islandTokens.create(accountId, name);
  }

  /** Active ones, newest first. */
  listIslandTokens(accountId: string): Promise<IslandToken[]> {
    return this.#deps.store.listIslandTokens(accountId);
  }

  /** False if the account has no such active token. */
  revokeIslandToken(accountId: string, tokenId: string): Promise<boolean> {
    return this.#announce(this.#deps.store.revokeIslandToken(accountId, tokenId, this.#deps.clock.now()));
  }

  /**
   * The caller that an API key or session token identifies; undefined if it is invalid, revoked or expired.
   * @throws {ServiceError} `key_expired` for an API key.
   */
  async authenticate(token: string): Promise<Identity | undefined> {
    const identity = await this.#callers.identify(token);
    if (identity !== undefined) this.#uses.record(identity);
    return identity;
  }

  /** False after the key was revoked, the session ended, or an operator lost the role, also by another process. */
  async isStillValid(identity: Identity): Promise<boolean> {
    const { store, clock } = this.#deps;
    const { accountId, role } = identity;
    if (role === "operator" && (await store.standing(accountId))?.role !== role) return false;
    if (identity.kind === "session") return (await store.findSession(identity.tokenHash, clock.now())) !== undefined;
    const nowMs = clock.now();
    const isValid = ({ id, expiresAtMs }: ApiKey): boolean =>
      id === identity.keyId && (expiresAtMs === null || expiresAtMs > nowMs);
    return (await store.listKeys(identity.accountId)).some(isValid);
  }

  /** Like {@link IslandTokens.authenticate}. */
  authenticateIsland(token: string): Promise<IslandIdentity | undefined> {
    return this.islandTokens.authenticate(token);
  }

  /** False after the token was revoked, also by another process. */
  isIslandTokenValid(tokenId: string): Promise<boolean> {
    return this.#deps.store.hasIslandToken(tokenId);
  }

  /** Resolves when background writes are done. Call it before the store is closed. */
  async settled(): Promise<void> {
    await this.passwordChanges.settled();
    const { registration } = this.#deps;
    if (typeof registration !== "string") await registration.settled();
    await this.settings.emails.settled();
    await this.#uses.settled();
    await this.islandTokens.settled();
  }

  /** For a write that ends credentials or changes limits. */
  async #announce<T>(write: Promise<T>): Promise<T> {
    const result = await write;
    this.#deps.credentials?.changed();
    return result;
  }

  /** @throws {RateLimitedError} */
  #countAttempt(address: string): void {
    const { isAllowed, freesInMs } = this.#attempts.count(address, MAX_ATTEMPTS);
    if (!isAllowed) throw new RateLimitedError("login_attempts", Math.max(1, Math.ceil(freesInMs / 1_000)));
  }

  async #signIn(account: Account): Promise<SignedIn> {
    const createdAtMs = this.#deps.clock.now();
    const expiresAtMs = createdAtMs + SESSION_MS;
    const token = newSecret("st");
    const session = { tokenHash: hashSecret(token), accountId: account.id, createdAtMs, expiresAtMs };
    await this.#announce(this.#deps.store.createSession(session, MAX_SESSIONS));
    return { token, expiresAtMs, account };
  }
}
