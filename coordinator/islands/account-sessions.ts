import { growingMs } from "../../shared/async/backoff.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import type { Env } from "../env.ts";
import { Pool } from "../quotas/pool.ts";
import { RequestWindow } from "../quotas/request-window.ts";
import { FrameIntake } from "./session/frame-intake.ts";

/** Unfinished frame bytes of an account, above which only one of its sockets is read at a time. */
const MAX_UNFINISHED_BYTES = 32 * MIB;
/** `Retry-After` of a session that exceeds the limit of its token or account. */
const FULL_RETRY_S = 30;
/** Cooldown of a token after a flood. It grows with each flood. */
const COOLDOWN = { firstMs: 10_000, maxMs: 600_000 } as const;
/** Time without a flood after which the cooldown starts from the first step. */
const FORGET_MS = 3_600_000;
const MAX_FLOODERS = 10_000;
const MS_PER_S = 1_000;

/** The reading capacity that all sessions of an account share. */
export class AccountShare {
  readonly intake = new FrameIntake();
  #unfinishedBytes = 0;
  /** The only session that is read while the account is at its limit, so that sessions do not block each other. */
  #reader: object | null = null;

  /** Records the size of a session's unfinished frame: `bytes` now, `before` previously; 0 if it has none. */
  changeUnfinished(session: object, bytes: number, before: number): void {
    this.#unfinishedBytes += bytes - before;
    if (bytes === 0 && this.#reader === session) this.#reader = null;
  }

  /** Returns true if the session may read further into an unfinished frame. */
  mayReadOn(session: object): boolean {
    if (this.#unfinishedBytes < MAX_UNFINISHED_BYTES) return true;
    this.#reader ??= session;
    return this.#reader === session;
  }
}

/** Limits open sessions of each account and token, and rejects tokens in cooldown after a flood. */
export function accountSessions({
  clock,
  config: { islandSessionsPerToken, islandSessionsPerAccount },
}: Pick<Env<"islandSessionsPerToken" | "islandSessionsPerAccount">, "clock" | "config">) {
  const opened = new RequestWindow(clock);
  const all = new Pool({ token: islandSessionsPerToken, account: islandSessionsPerAccount });
  const shares = new Map<string, AccountShare>();
  /** Number of consecutive floods and time of the last one, by token id. */
  const floods = recentMap<{ readonly atMs: number; readonly count: number }>(MAX_FLOODERS);

  const assertNoBackoff = (tokenId: string): void => {
    const last = floods.get(tokenId);
    if (last === undefined) return;
    const leftMs = last.atMs + growingMs(last.count, COOLDOWN) - clock.monotonicMs();
    if (leftMs > 0) throw refusal(Math.ceil(leftMs / MS_PER_S));
  };

  return {
    /** Counts a new session of the token; `close` ends it. @throws {RateLimitedError} if it may not be opened now */
    open({ accountId, tokenId }: IslandIdentity): { readonly share: AccountShare; readonly close: () => void } {
      assertNoBackoff(tokenId);
      const keys = [
        ["token", tokenId],
        ["account", accountId],
      ] as const;
      if (all.fullFor(keys, 1) !== null) throw refusal(FULL_RETRY_S);
      const { isAllowed, freesInMs } = opened.count(accountId, 2 * islandSessionsPerAccount);
      if (!isAllowed) throw refusal(Math.ceil(freesInMs / MS_PER_S));
      const share = shares.get(accountId) ?? new AccountShare();
      shares.set(accountId, share);
      all.add(keys, 1);
      let isOpen = true;
      const close = (): void => {
        if (!isOpen) return;
        isOpen = false;
        all.add(keys, -1);
        if (all.count("account", accountId) === 0) shares.delete(accountId);
      };
      return { share, close };
    },

    startCooldown(tokenId: string): void {
      const nowMs = clock.monotonicMs();
      const last = floods.get(tokenId);
      const before = last === undefined || nowMs - last.atMs > FORGET_MS ? 0 : last.count;
      floods.set(tokenId, { atMs: nowMs, count: before + 1 });
    },
  };
}

function refusal(retryAfterS: number): RateLimitedError {
  return new RateLimitedError("island_sessions", Math.max(1, retryAfterS));
}
