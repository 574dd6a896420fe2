import type { SchedulerIsland } from "../scheduler/scheduler.ts";
import type { AttemptId } from "./island.ts";

/** What the Island registry tells its subscribers, in the turn of the event loop in which it happens. */
export type IslandRegistryEvent =
  /** A session began. `busy`: slots taken by attempts that the Island continues. */
  | { readonly type: "island_up"; readonly island: SchedulerIsland; readonly busy: number }
  /** A heartbeat, or the Island takes new jobs again or no longer. */
  | { readonly type: "island_changed"; readonly island: SchedulerIsland }
  /** The session is over. The Island keeps its attempts for the grace. */
  | { readonly type: "island_down"; readonly islandId: string }
  /** A connected Island finished with an attempt, however it ended. */
  | { readonly type: "slot_freed"; readonly islandId: string; readonly jobId: string }
  /** An Island that was given a job again drops its earlier attempt of it, which took a slot until now. */
  | { readonly type: "slot_superseded"; readonly islandId: string; readonly jobId: string }
  /** Attempts that the Island does not continue. Some of their jobs may have ended. `message`: why, for the job's error. */
  | {
      readonly type: "attempts_lost";
      readonly islandId: string;
      readonly attempts: readonly AttemptId[];
      readonly message: string;
      /** The Island is away and may come back with them; false: it is here without them. */
      readonly mayReturn: boolean;
    };
