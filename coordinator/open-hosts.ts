import { MESSAGES } from "./cluster/messages.ts";
import type { Network } from "./cluster/open-network.ts";
import type { Peers } from "./cluster/peers.ts";
import type { Core } from "./core.ts";
import type { Env } from "./env.ts";
import type { AccountEvents } from "./events/account-events.ts";
import { cargoAvailability } from "./islands/cargo-availability.ts";
import { openHostMetrics } from "./metrics/host-metrics.ts";
import { connectedIslands, type ConnectedIslands, type IslandsElsewhere } from "./islands/live-island.ts";
import { islandService } from "./islands/island-service.ts";
import type { Suspensions } from "./operators/suspensions.ts";

const UNANSWERED_LOG = "A peer did not reply to the Island query";

/** Opens the services with which hosts see their Islands. Must be called before the first Island is accepted. */
export function openHosts(
  env: Env,
  { peers, store }: Pick<Network, "peers" | "store">,
  { jobs, islands, catalog, quarantineOf }: Core,
  suspensions: Suspensions,
  events: AccountEvents,
) {
  const { clock } = env;
  const isQuarantined = (hostId: string): boolean => quarantineOf(hostId) !== null;
  const here = connectedIslands(islands, { isQuarantined, jobs });
  const availability = cargoAvailability(clock, islands, catalog, async (accountId) => {
    const replies = await peers.askAll(MESSAGES.availability, { accountId }, UNANSWERED_LOG);
    return replies.map(({ reply }) => reply);
  });
  peers.handle(MESSAGES.availability, ({ accountId }) => availability.here(accountId));
  const onChanged = (accountId: string, id: string): void => events.note(accountId, { type: "island", id });
  const service = islandService(clock, store, here, islandsElsewhere(peers, here), suspensions.reasonFor, onChanged);
  return { service, metrics: openHostMetrics(env, store, islands, jobs), availability };
}

/**
 * Returns access to an account's Islands at other coordinators, all of which are asked. A coordinator that does not
 * reply finds a removal in storage within one or two minutes.
 */
export function islandsElsewhere(peers: Pick<Peers, "askAll" | "handle">, here: ConnectedIslands): IslandsElsewhere {
  peers.handle(MESSAGES.islandsOf, ({ accountId, hostId }) => here.liveOf(accountId, hostId));
  peers.handle(MESSAGES.removeIsland, ({ accountId, hostId }) => {
    here.remove(accountId, hostId);
    return null;
  });
  return {
    async liveOf(accountId, hostId) {
      const replies = await peers.askAll(MESSAGES.islandsOf, { accountId, hostId }, UNANSWERED_LOG);
      return {
        islands: replies.flatMap(({ reply }) => reply ?? []),
        isComplete: replies.every(({ reply }) => reply !== undefined),
      };
    },
    async remove(accountId, hostId) {
      await peers.askAll(MESSAGES.removeIsland, { accountId, hostId }, UNANSWERED_LOG);
    },
  };
}
