import { growingMs } from "../../shared/async/backoff.ts";
import { RateLimitedError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { IslandIdentity } from "../accounts/identity.ts";
import type { Env } from "../env.ts";
import { Pool } from "../quotas/pool.ts";
import { RequestWindow } from "../quotas/request-window.ts";
import { FrameIntake } from "./session/frame-intake.ts";

/** Bytes of unfinished frames of all sessions of an account. Above it, their sockets wait for each other. */
const MAX_UNFINISHED_BYTES = 32 * MIB;
/** When to try again after a refusal because too many sessions are open. */
const FULL_RETRY_S = 30;
/** Waits of a token after a flood. */
const WAITS = { firstMs: 10_000, maxMs: 600_000 } as const;
/** After this long without a flood, the wait is the first one again. */
const FORGET_MS = 3_600_000;
const MAX_OFFENDERS = 10_000;
const MS_PER_S = 1_000;

export class AccountShare {
  readonly intake = new FrameIntake();
  /** When each of these tokens was looked up last, by the clock that never jumps. */
  readonly checkedMs = new Map<string, number>();
  /** Bytes of frames that have begun and not ended, of all sessions. */
  #unfinishedBytes = 0;
  /** The one session that may read on while there is no room, so that they do not all wait for each other. */
  #reader: object | null = null;

  /** A session's unfinished frame has `bytes` now, and had `before`; 0 when it has none. */
  changeUnfinished(session: object, bytes: number, before: number): void {
    this.#unfinishedBytes += bytes - before;
    if (bytes === 0 && this.#reader === session) this.#reader = null;
  }

  /** Whether the session may read on although its frame has not ended. */
  mayReadOn(session: object): boolean {
    if (this.#unfinishedBytes < MAX_UNFINISHED_BYTES) return true;
    this.#reader ??= session;
    return this.#reader === session;
  }

  /**
   * Whether a token is to be looked up again, which the caller then does. Every session asks once in each interval, so that half of it
   * serves all sessions of a token with one look-up in each.
   */
  isCheckDue(tokenId: string, nowMs: number, intervalMs: number): boolean {
    const checkedMs = this.checkedMs.get(tokenId);
    if (checkedMs !== undefined && nowMs - checkedMs < intervalMs / 2) return false;
    this.checkedMs.set(tokenId, nowMs);
    return true;
  }
}

/** The sessions of each account and token: how many may be open, and which tokens wait after a flood. */
export function accountSessions({
  clock,
  config: { islandSessionsPerToken, islandSessionsPerAccount },
}: Pick<Env<"islandSessionsPerToken" | "islandSessionsPerAccount">, "clock" | "config">) {
  const opened = new RequestWindow(clock);
  const all = new Pool({ token: islandSessionsPerToken, account: islandSessionsPerAccount });
  /** By account; only accounts with an open session. */
  const shares = new Map<string, AccountShare>();
  /** By token id: floods in a row, and when the last one was. */
  const offences = recentMap<{ readonly atMs: number; readonly count: number }>(MAX_OFFENDERS);

  const assertNoBackoff = (tokenId: string): void => {
    const last = offences.get(tokenId);
    if (last === undefined) return;
    const leftMs = last.atMs + growingMs(last.count, WAITS) - clock.monotonicMs();
    if (leftMs > 0) throw refusal(Math.ceil(leftMs / MS_PER_S));
  };

  return {
    /** Counts a session of the token; `close` ends it. @throws {RateLimitedError} when it may not be opened now. */
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
        if (all.count("token", tokenId) === 0) share.checkedMs.delete(tokenId);
        if (all.count("account", accountId) === 0) shares.delete(accountId);
      };
      return { share, close };
    },

    /** A session of the token was a flood: for a growing time it opens no other. */
    punish(tokenId: string): void {
      const nowMs = clock.monotonicMs();
      const last = offences.get(tokenId);
      const before = last === undefined || nowMs - last.atMs > FORGET_MS ? 0 : last.count;
      offences.set(tokenId, { atMs: nowMs, count: before + 1 });
    },
  };
}

function refusal(retryAfterS: number): RateLimitedError {
  return new RateLimitedError("island_sessions", Math.max(1, retryAfterS));
}
