import type { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import type { Unsubscribe } from "../bus/bus.ts";
import type { AccountEvents } from "../events/account-events.ts";
import { MESSAGES, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import { whileOthers } from "./while-others.ts";

/** Interval at which subscriptions are renewed. The replies show whether messages were lost. */
const RENEW_MS = 1_000;
/** Timeout of the first replies, for which a client waits. */
const FOLLOW_TIMEOUT_MS = 500;
/** Silence after which a follower gets no more messages. */
const SILENT_MS = 5_000;

/** A coordinator that subscribes to changes of accounts here. */
interface Follower {
  sent: number;
  receivedMs: number;
  readonly accounts: Map<string, Unsubscribe>;
}

/**
 * Sends changes of accounts to the coordinators that have clients for them, and subscribes to changes at the others. If
 * a numbered message is lost, or a coordinator joins, leaves or does not reply, clients here get a reset.
 */
export function shareEvents(events: AccountEvents, peers: Peers, clock: Clock): void {
  const otherIds = (): string[] => peers.others.map(({ id }) => id);
  let others = otherIds();
  const followers = new Map<string, Follower>();
  /** Number of the last message from each coordinator that replies. */
  const received = new Map<string, number>();
  /** Coordinators that were asked for changes, and have not confirmed since that they send none. */
  const followed = new Set<string>();
  /** Coordinators whose reply to the last renewal is outstanding. */
  const renewing = new Set<string>();

  const handleFollower = (
    { accountIds, all }: QuestionOf<typeof MESSAGES.events>,
    followerId: string,
  ): ReplyOf<typeof MESSAGES.events> => {
    const known = followers.get(followerId);
    const follower = known ?? { sent: 0, receivedMs: 0, accounts: new Map<string, Unsubscribe>() };
    follower.receivedMs = clock.monotonicMs();
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
        peers.send(followerId, MESSAGES.changes, { sent: follower.sent, accountId, changes });
      });
      follower.accounts.set(accountId, stop);
    }
    return known?.sent ?? null;
  };

  /** Forgets a follower, whose next request gets null and whose clients get a reset. */
  const forget = (followerId: string): void => {
    for (const stop of followers.get(followerId)?.accounts.values() ?? []) stop();
    followers.delete(followerId);
  };

  const receive = ({ sent, accountId, changes }: z.infer<typeof MESSAGES.changes.content>, from: string): void => {
    const before = received.get(from);
    if (before === undefined || sent <= before) return;
    received.set(from, sent);
    if (sent > before + 1) events.resetAll();
    events.arrive(accountId, changes === null ? null : changes.filter((change) => change !== null));
  };

  /** Subscribes at a peer to changes of one more account, or of all accounts that have clients here. */
  const ask = async (peerId: string, timeoutMs?: number, accountId?: string): Promise<void> => {
    const all = accountId === undefined || !received.has(peerId);
    const accountIds = all ? events.followedIds : [accountId];
    if (accountIds.length > 0) followed.add(peerId);
    try {
      const sent = await peers.ask(peerId, MESSAGES.events, { accountIds, all }, timeoutMs);
      if (accountIds.length === 0 && events.followedIds.length === 0) followed.delete(peerId);
      if (sent === null) received.delete(peerId);
      if (sent === null && !all) return await ask(peerId, timeoutMs);
      const before = received.get(peerId);
      received.set(peerId, Math.max(sent ?? 0, before ?? 0));
      if (before === undefined || before < (sent ?? 0)) events.resetAll();
    } catch {
      // The request fails, for example, while the bus is down. The next reply causes a reset.
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
    for (const [followerId, { receivedMs }] of followers) if (receivedMs <= silentMs) forget(followerId);
    for (const peerId of others) void renewAt(peerId);
  };

  const noteMembers = (): void => {
    const before = others;
    others = otherIds();
    for (const followerId of followers.keys()) if (!others.includes(followerId)) forget(followerId);
    const gone = before.filter((peerId) => !others.includes(peerId));
    for (const peerId of gone) {
      received.delete(peerId);
      followed.delete(peerId);
    }
    if (gone.length > 0) events.resetAll();
  };

  const stops = [
    peers.handle(MESSAGES.events, handleFollower),
    peers.onMessage(MESSAGES.changes, receive),
    peers.onChange(noteMembers),
    whileOthers(peers, clock, RENEW_MS, renew),
  ];
  events.closed.addEventListener("abort", () => stops.forEach((stop) => stop()));
  events.follow = async (accountId) => {
    await Promise.all(others.map((peerId) => ask(peerId, FOLLOW_TIMEOUT_MS, accountId)));
  };
}
