import type { Clock } from "../../shared/clock.ts";
import type { CallerQuota } from "../quotas/caller-quota.ts";
import { M } from "./messages.ts";
import type { Peers } from "./peers.ts";
import { quotaOwners } from "./quota-owners.ts";
import { sharedRequests } from "./shared-requests.ts";
import { sharedStreams } from "./shared-streams.ts";

/**
 * Requests and open streams, counted for the network: by the coordinator that owns the account's quota, which others ask. While it is out
 * of reach each coordinator grants its part of a limit. Streams that close after `close()` are not reported any more: a coordinator that
 * leaves has none.
 */
export function networkQuota(peers: Peers, clock: Clock): CallerQuota & { readonly close: () => void } {
  const owners = quotaOwners(peers, clock);
  const requests = sharedRequests(clock, peers, owners);
  const streams = sharedStreams(clock, peers, owners);
  const stops = [
    peers.answer(M.requests, (question) => requests.grant(question)),
    peers.answer(M.streams, (question, fromId) => streams.note(question, fromId)),
    peers.onChange(() => streams.refresh()),
    peers.onBusChange(() => streams.refresh()),
  ];
  return {
    countRequest: (caller) => requests.count(caller),
    openStream: (accountId, limit) => streams.open(accountId, limit),
    close() {
      for (const stop of stops) stop();
      streams.close();
    },
  };
}
