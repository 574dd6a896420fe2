import { M } from "./cluster/messages.ts";
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

const FAULT = "A coordinator did not answer a question about its Islands";

/** What hosts see of their Islands. Call it before the first Island is let in. */
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
    const replies = await peers.askAll(M.availability, { accountId }, FAULT);
    return replies.map(({ reply }) => reply);
  });
  peers.answer(M.availability, ({ accountId }) => availability.here(accountId));
  const onChanged = (accountId: string, id: string): void => events.note(accountId, { type: "island", id });
  const service = islandService(clock, store, here, islandsElsewhere(peers, here), suspensions.reasonFor, onChanged);
  return { service, metrics: openHostMetrics(env, store, islands, jobs), availability };
}

/**
 * Islands of an account that are connected to other coordinators. The database does not say which one has which, so all are asked; what is
 * stored is shown for those that do not answer. They find a removal in storage within a minute or two.
 */
export function islandsElsewhere(peers: Pick<Peers, "answer" | "askAll">, here: ConnectedIslands): IslandsElsewhere {
  peers.answer(M.islandsOf, ({ accountId, hostId }) => here.liveOf(accountId, hostId));
  peers.answer(M.removeIsland, ({ accountId, hostId }) => {
    here.remove(accountId, hostId);
    return null;
  });
  return {
    async liveOf(accountId, hostId) {
      const replies = await peers.askAll(M.islandsOf, { accountId, hostId }, FAULT);
      return {
        islands: replies.flatMap(({ reply }) => reply ?? []),
        isComplete: replies.every(({ reply }) => reply !== undefined),
      };
    },
    async remove(accountId, hostId) {
      await peers.askAll(M.removeIsland, { accountId, hostId }, FAULT);
    },
  };
}
