import type { KnownCargo } from "./fit.ts";
import type { WorkKind } from "./slot-offer.ts";

export interface SchedulerDeps {
  /** Looks up the catalog. When its answer for a slug changes, `cargo_changed` must follow. */
  readonly cargos: (slug: string) => KnownCargo | undefined;
  /** Part of the slots' time that chats get while both chats and other jobs wait; above 0, below 1. */
  readonly chatShare: number;
  /** First pause of an Island after it let a job of a Cargo down. */
  readonly firstPauseMs: number;
  /** 0 (included) to 1 (excluded); spreads the pauses. */
  readonly random: () => number;
  /** True if another coordinator may have Islands for jobs of that kind; absent: there is no other. */
  readonly mayRunElsewhere?: (kind: WorkKind) => boolean;
}
