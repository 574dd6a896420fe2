import type { Clock } from "../../shared/clock.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { RequestCaller } from "../quotas/caller-quota.ts";
import { RequestWindow, WINDOW_MS, type RequestCount } from "../quotas/request-window.ts";
import { M, type QuestionOf, type ReplyOf } from "./messages.ts";
import type { Peers } from "./peers.ts";
import type { QuotaOwners } from "./quota-owners.ts";

/** What all coordinators together may have of a limit in blocks that are not used up. */
const BLOCKS_SHARE = 0.05;
/** Requests in one block, whatever the limit and however many wait. */
const MAX_BLOCK = 50_000;
/** How long a refusal of the owner stands, so that a client that tries on costs one question a second. A raised limit asks anew. */
const MAX_REFUSED_MS = 1_000;
const MAX_BLOCKS = 50_000;

/** Requests that the owner has granted and counted already. */
interface Block {
  readonly ownerId: string;
  readonly limit: number;
  left: number;
  /** The owner forgets them then. */
  expiresAtMs: number;
  refusedUntilMs: number;
  remaining: number;
  freesAtMs: number;
  /** Requests that wait for the owner's answer. */
  waiting: number;
  reply: Promise<boolean> | null;
}

/**
 * Requests a minute of each credential, in the network. The owner of its account counts them in an exact window; other coordinators get
 * blocks from it. A block counts from the moment it is granted, so that what is made in a minute passes the limit by at most the blocks
 * that are not used up when it begins: 5 %. A small limit has blocks of one, and is exact.
 */
export function sharedRequests(clock: Clock, peers: Peers, owners: QuotaOwners) {
  /** As quota owner: all requests of a credential. Else those that were made here, for times when the owner cannot be asked. */
  const window = new RequestWindow(clock);
  /** By credential. */
  const blocks = recentMap<Block>(MAX_BLOCKS);

  function countPart(credential: string, limit: number): RequestCount {
    return window.count(credential, owners.partOf(limit));
  }

  function blockOf(credential: string, ownerId: string, limit: number): Block {
    const known = blocks.get(credential);
    if (known?.ownerId === ownerId && known.limit === limit) return known;
    const empty = { left: 0, expiresAtMs: 0, refusedUntilMs: 0, remaining: 0, freesAtMs: 0, waiting: 0, reply: null };
    const block = { ownerId, limit, ...empty };
    blocks.set(credential, block);
    return block;
  }

  /** Undefined if the owner must be asked. */
  function take(credential: string, block: Block): RequestCount | undefined {
    const nowMs = clock.monotonicMs();
    const freesInMs = Math.max(0, block.freesAtMs - nowMs);
    if (block.left > 0 && nowMs < block.expiresAtMs) {
      block.left -= 1;
      window.count(credential, Infinity);
      return { isAllowed: true, remaining: block.remaining + block.left, freesInMs };
    }
    if (nowMs < block.refusedUntilMs) return { isAllowed: false, remaining: 0, freesInMs };
    return undefined;
  }

  async function countAtOwner(credential: string, block: Block): Promise<RequestCount> {
    block.waiting += 1;
    try {
      let counted: RequestCount | undefined;
      while (counted === undefined) {
        block.reply ??= ask(credential, block);
        if (!(await block.reply)) return countPart(credential, block.limit);
        counted = take(credential, block);
      }
      return counted;
    } finally {
      block.waiting -= 1;
    }
  }

  /** False if the owner does not answer; else the block has requests, or a refusal. */
  async function ask(credential: string, block: Block): Promise<boolean> {
    const { ownerId, limit } = block;
    const askedAtMs = clock.monotonicMs();
    const size = Math.floor((limit * BLOCKS_SHARE) / peers.living.length);
    const count = Math.min(MAX_BLOCK, Math.max(size, block.waiting));
    const reply = await owners.ask(ownerId, M.requests, { credential, limit, count });
    block.reply = null;
    if (reply === undefined) return false;
    const { granted, remaining, freesInMs } = reply;
    block.left = granted;
    block.expiresAtMs = askedAtMs + WINDOW_MS;
    block.remaining = remaining;
    const nowMs = clock.monotonicMs();
    block.freesAtMs = nowMs + freesInMs;
    block.refusedUntilMs = granted > 0 ? 0 : nowMs + Math.min(Math.max(1, freesInMs), MAX_REFUSED_MS);
    return true;
  }

  return {
    count({ accountId, credential, limit }: RequestCaller): RequestCount | Promise<RequestCount> {
      const ownerId = owners.of(accountId);
      if (!owners.isInReach(ownerId)) return countPart(credential, limit);
      if (ownerId === owners.selfId) return window.count(credential, limit);
      const block = blockOf(credential, ownerId, limit);
      return take(credential, block) ?? countAtOwner(credential, block);
    },
    /** As quota owner: grants as many as the limit allows. */
    grant({ credential, limit, count }: QuestionOf<typeof M.requests>): ReplyOf<typeof M.requests> {
      const wanted = Math.min(count, MAX_BLOCK);
      let granted = 0;
      let last = window.look(credential, limit);
      while (granted < wanted && last.isAllowed) {
        last = window.count(credential, limit);
        if (last.isAllowed) granted += 1;
      }
      return { granted, remaining: last.remaining, freesInMs: last.freesInMs };
    },
  };
}
