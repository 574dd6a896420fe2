import type { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import type { Unsubscribe } from "../bus/bus.ts";
import type { AccountEvents } from "../events/account-events.ts";
import { M, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import { whileOthers } from "./while-others.ts";

/** All coordinators are asked again: the reply shows whether the last messages were lost. */
const RENEW_MS = 1_000;
/** A client waits for the first replies. */
const FOLLOW_TIMEOUT_MS = 500;
/** A follower that is silent for so long is sent nothing more. */
const SILENT_MS = 5_000;

interface Follower {
  sent: number;
  heardMs: number;
  /** By account: ends its listener. */
  readonly accounts: Map<string, Unsubscribe>;
}

/**
 * Sends changes of accounts to the coordinators that have clients for them, and asks the others for theirs. Messages are numbered, and none
 * is sent again: if one is lost, or a coordinator comes, goes or does not answer, clients here get a reset.
 */
export function shareEvents(events: AccountEvents, peers: Peers, clock: Clock): void {
  const othersNow = (): string[] => peers.others.map(({ id }) => id);
  let others = othersNow();
  const followers = new Map<string, Follower>();
  /** Number of the last message from each coordinator that answers. */
  const received = new Map<string, number>();
  /** Coordinators that may send changes: they were asked for some, and did not reply since that they send none. */
  const followed = new Set<string>();
  /** Coordinators that have not replied yet to the last renewal. */
  const renewing = new Set<string>();

  const answer = ({ accountIds, all }: QuestionOf<typeof M.events>, followerId: string): ReplyOf<typeof M.events> => {
    const known = followers.get(followerId);
    const follower = known ?? { sent: 0, heardMs: 0, accounts: new Map<string, Unsubscribe>() };
    follower.heardMs = clock.monotonicMs();
    followers.set(followerId, follower);
    const wanted = new Set(accountIds);
    for (const [accountId, stop] of follower.accounts) {
      if (!all || wanted.has(accountId)) continue;
      stop();
      follower.accounts.delete(accountId);
    }
    for (const accountId of wanted) {
      if (follower.accounts.has(accountId)) continue;
      const stop = events.openForPeer(accountId, (changes) => {
        follower.sent += 1;
        peers.tellOne(followerId, M.changes, { sent: follower.sent, accountId, changes });
      });
      follower.accounts.set(accountId, stop);
    }
    return known?.sent ?? null;
  };

  /** Its next question is answered with null, and its clients get a reset. */
  const forget = (followerId: string): void => {
    for (const stop of followers.get(followerId)?.accounts.values() ?? []) stop();
    followers.delete(followerId);
  };

  const receive = ({ sent, accountId, changes }: z.infer<typeof M.changes.content>, from: string): void => {
    const before = received.get(from);
    // A reset includes it.
    if (before === undefined || sent <= before) return;
    received.set(from, sent);
    if (sent > before + 1) events.resetAll();
    events.arrive(accountId, changes === null ? null : changes.filter((change) => change !== null));
  };

  /** Asks for changes of one more account, or of all that have clients here. */
  const ask = async (peerId: string, timeoutMs?: number, accountId?: string): Promise<void> => {
    const all = accountId === undefined || !received.has(peerId);
    const accountIds = all ? events.followedIds : [accountId];
    if (accountIds.length > 0) followed.add(peerId);
    try {
      const sent = await peers.ask(peerId, M.events, { accountIds, all }, timeoutMs);
      if (accountIds.length === 0 && events.followedIds.length === 0) followed.delete(peerId);
      if (sent === null) received.delete(peerId);
      if (sent === null && !all) return await ask(peerId, timeoutMs);
      const before = received.get(peerId);
      received.set(peerId, Math.max(sent ?? 0, before ?? 0));
      if (before === undefined || before < (sent ?? 0)) events.resetAll();
    } catch {
      // Such as while the bus is down. The next reply gives a reset.
      received.delete(peerId);
    }
  };

  const renewAt = async (peerId: string): Promise<void> => {
    if (renewing.has(peerId) || (events.followedIds.length === 0 && !followed.has(peerId))) return;
    renewing.add(peerId);
    await ask(peerId);
    renewing.delete(peerId);
  };

  const renew = (): void => {
    const silentMs = clock.monotonicMs() - SILENT_MS;
    for (const [followerId, { heardMs }] of followers) if (heardMs <= silentMs) forget(followerId);
    for (const peerId of others) void renewAt(peerId);
  };

  const noteMembers = (): void => {
    const before = others;
    others = othersNow();
    for (const followerId of followers.keys()) if (!others.includes(followerId)) forget(followerId);
    const gone = before.filter((peerId) => !others.includes(peerId));
    for (const peerId of gone) {
      received.delete(peerId);
      followed.delete(peerId);
    }
    if (gone.length > 0) events.resetAll();
  };

  const stops = [
    peers.answer(M.events, answer),
    peers.hearOwn(M.changes, receive),
    peers.onChange(noteMembers),
    whileOthers(peers, clock, RENEW_MS, renew),
  ];
  events.closed.addEventListener("abort", () => stops.forEach((stop) => stop()));
  events.follow = async (accountId) => {
    await Promise.all(others.map((peerId) => ask(peerId, FOLLOW_TIMEOUT_MS, accountId)));
  };
}
