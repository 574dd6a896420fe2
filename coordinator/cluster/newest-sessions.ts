import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { SessionOrder } from "../islands/island-connections.ts";
import type { IslandSessions } from "../store/cluster-store.ts";
import { MESSAGES, MAX_SESSIONS } from "./messages.ts";
import type { Peers } from "./peers.ts";

/** Number of Islands whose newest session number is remembered: a session may start slowly. */
const MAX_REMEMBERED = 10_000;

/**
 * Ends the older of two sessions of one Island at two coordinators, which may both have missed the loss of its
 * connection. Storage numbers sessions by arrival of their `hello`. While numbers or messages are missing, both
 * sessions stay. If they are of different accounts, the older one stays: its account keeps the host id although storage
 * forgot it. Must be called before the first Island is accepted.
 */
export function orderSessions(
  peers: Peers,
  islands: IslandRegistry,
  numbers: IslandSessions,
  log: Pick<Logger, "warn">,
): SessionOrder {
  /** Sessions at this coordinator, by host id. The number is null if storage failed. */
  const here = new Map<string, { readonly number: number | null; readonly accountId: string }>();
  const newest = recentMap<number>(MAX_REMEMBERED);

  function receive([hostId, number, accountId]: readonly [string, number, string]): void {
    newest.set(hostId, Math.max(number, newest.get(hostId) ?? 0));
    const own = here.get(hostId);
    if (own === undefined || own.number === null) return;
    const isOtherAccount = accountId !== own.accountId;
    if (isOtherAccount ? number < own.number : number > own.number) islands.endSession(hostId);
    // The sender does not know of this session, which was first.
    else if (isOtherAccount) peers.broadcast(MESSAGES.sessions, [[hostId, own.number, own.accountId]]);
  }

  function announceAll(): void {
    const numbered = [...here].flatMap(([hostId, { number, accountId }]) =>
      number === null ? [] : [[hostId, number, accountId] as const],
    );
    for (let from = 0; from < numbered.length; from += MAX_SESSIONS)
      peers.broadcast(MESSAGES.sessions, numbered.slice(from, from + MAX_SESSIONS));
  }

  islands.subscribe((event) => {
    if (event.type === "island_down") here.delete(event.islandId);
  });
  // Own messages are received too, but never carry a newer number than the session.
  peers.onBroadcast(MESSAGES.sessions, (sessions) => sessions.forEach(receive));
  // Peers missed the sessions that started while the bus was down.
  peers.onBusChange((downReason) => {
    if (downReason === null) announceAll();
  });
  return {
    async next(hostId) {
      try {
        return await numbers.nextNumber();
      } catch (error) {
        log.warn({ err: error, island_id: hostId }, "Could not get a number for an Island session");
        return null;
      }
    },
    admits: (hostId, number) => number === null || number >= (newest.get(hostId) ?? 0),
    begin(hostId, accountId, number) {
      here.set(hostId, { number, accountId });
      if (number === null) return;
      newest.set(hostId, number);
      peers.broadcast(MESSAGES.sessions, [[hostId, number, accountId]]);
    },
  };
}
