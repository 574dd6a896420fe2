import { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { AccountEvents } from "../events/account-events.ts";
import { changeSchema, MAX_WAITING } from "../events/change.ts";
import type { Members } from "./members.ts";

/** All coordinators are asked again: the reply shows whether the last messages were lost. */
const RENEW_MS = 1_000;
const RENEW_TIMEOUT_MS = 3_000;
/** A client waits for the first replies. */
const FOLLOW_TIMEOUT_MS = 500;
/** As many streams as a coordinator may have. Their ids take 330 KB. */
const MAX_ACCOUNTS = 10_000;

const id = z.string().max(200);
const count = z.number().int().min(0);
/** Request `<id>.events`: send changes of these accounts; `all`: and of no others. */
const question = z.object({ follower: id, accountIds: z.array(id).max(MAX_ACCOUNTS), all: z.boolean() });
/** Number of messages that the follower was sent; null: it was not known, and was sent nothing. */
const reply = count.nullable();
/** `events.<follower>`: changes of an account. Null is a reset, or a change of a kind that this version does not know. */
const message = z.object({
  from: id,
  /** Number of this message. */
  sent: count,
  accountId: id,
  changes: z.array(changeSchema.nullable().catch(null)).max(MAX_WAITING).nullable(),
});

interface Follower {
  sent: number;
  /** By account: ends its listener. */
  readonly accounts: Map<string, Unsubscribe>;
}

/**
 * Sends changes of accounts to the coordinators that have clients for them, and asks the others for theirs. Messages are numbered, and none
 * is sent again: if one is lost, or a coordinator comes, goes or does not answer, clients here get a reset.
 */
export function shareEvents(
  events: AccountEvents,
  bus: Pick<Bus, "publish" | "subscribe" | "request" | "answer">,
  members: Pick<Members, "self" | "living" | "onChange">,
  clock: Pick<Clock, "sleep">,
): void {
  const selfId = members.self.id;
  const othersNow = (): string[] => members.living.map((peer) => peer.id).filter((peerId) => peerId !== selfId);
  let others = othersNow();
  const followers = new Map<string, Follower>();
  /** Number of the last message from each coordinator that answers. */
  const received = new Map<string, number>();

  const answer = ({ follower: followerId, accountIds, all }: z.infer<typeof question>): z.infer<typeof reply> => {
    const known = followers.get(followerId);
    const follower = known ?? { sent: 0, accounts: new Map<string, Unsubscribe>() };
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
        bus.publish(`events.${followerId}`, { from: selfId, sent: follower.sent, accountId, changes });
      });
      follower.accounts.set(accountId, stop);
    }
    return known?.sent ?? null;
  };

  const receive = ({ from, sent, accountId, changes }: z.infer<typeof message>): void => {
    const before = received.get(from);
    // A reset includes it.
    if (before === undefined || sent <= before) return;
    received.set(from, sent);
    if (sent > before + 1) events.resetAll();
    events.arrive(accountId, changes === null ? null : changes.filter((change) => change !== null));
  };

  /** Asks for changes of one more account, or of all that have clients here. */
  const ask = async (peerId: string, timeoutMs: number, accountId?: string): Promise<void> => {
    const all = accountId === undefined || !received.has(peerId);
    const asked = { follower: selfId, accountIds: all ? events.followedIds : [accountId], all };
    try {
      const sent = reply.parse(await bus.request(`${peerId}.events`, asked, timeoutMs));
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
  const askOthers = async (timeoutMs: number, accountId?: string): Promise<void> => {
    await Promise.all(others.map((peerId) => ask(peerId, timeoutMs, accountId)));
  };

  const renew = async (): Promise<never> => {
    for (let wasFollowing = false; ;) {
      await clock.sleep(RENEW_MS, events.closed);
      const isFollowing = events.followedIds.length > 0;
      if (isFollowing || wasFollowing) await askOthers(RENEW_TIMEOUT_MS);
      wasFollowing = isFollowing;
    }
  };

  const noteMembers = (): void => {
    const before = others;
    others = othersNow();
    for (const [peerId, { accounts }] of followers) {
      if (others.includes(peerId)) continue;
      for (const stop of accounts.values()) stop();
      followers.delete(peerId);
    }
    const gone = before.filter((peerId) => !others.includes(peerId));
    for (const peerId of gone) received.delete(peerId);
    if (gone.length > 0) events.resetAll();
  };

  const stops = [
    bus.answer(`${selfId}.events`, async (asked) => answer(question.parse(asked))),
    bus.subscribe(`events.${selfId}`, (sent) => {
      const { data } = message.safeParse(sent);
      if (data !== undefined) receive(data);
    }),
    members.onChange(noteMembers),
  ];
  events.closed.addEventListener("abort", () => stops.forEach((stop) => stop()));
  events.follow = (accountId) => askOthers(FOLLOW_TIMEOUT_MS, accountId);
  renew().catch(() => undefined);
}
