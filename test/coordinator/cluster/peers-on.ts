import type { Bus } from "../../../coordinator/bus/bus.ts";
import { openPeers, type Peers } from "../../../coordinator/cluster/peers.ts";
import type { Peer } from "../../../coordinator/store/cluster-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";

export const peerOf = (id: string): Peer => ({ id, address: `http://${id}`, version: "1" });

/** Coordinator `id` on a bus, where these live. */
export function peersOn(
  bus: Bus,
  id: string,
  live: readonly string[] = [id],
  env: Partial<Parameters<typeof openPeers>[2]> = {},
): Peers {
  const peers = openPeers(peerOf(id), bus, { clock: new ManualClock(), log: { warn: () => undefined }, ...env });
  peers.setLive(live.map(peerOf));
  return peers;
}
