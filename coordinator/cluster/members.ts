import type { Unsubscribe } from "../bus/bus.ts";
import type { Peer } from "../store/cluster-store.ts";

/** The coordinators of the network, as this one knows them. */
export interface Members {
  readonly self: Peer;
  /** The living, this one included, sorted by id. */
  readonly living: readonly Peer[];
  /** Calls `listener` after {@link living} has changed, until the returned function is called. */
  onChange(listener: () => void): Unsubscribe;
}
