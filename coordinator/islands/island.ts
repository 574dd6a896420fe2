import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { SchedulerIsland } from "../scheduler/scheduler.ts";

/** The connection to an Island's agent. */
export interface IslandLink {
  /** False once the socket is closing: a frame sent then is lost. */
  readonly isOpen: boolean;
  send(frame: FromCoordinator): void;
  /** Sends `goodbye` and closes. `retryAfterMs` null: the agent should not come back by itself. `address`: where it is to go. */
  dismiss(reason: string, retryAfterMs: number | null, address?: string): void;
}

export interface AttemptId {
  readonly jobId: string;
  readonly attempt: number;
}

/** An Island that is connected, or was until less than the grace ago. A view: only the commands of `IslandRegistry` change it. */
export interface IslandView {
  readonly hostId: string;
  /** Account of the owner, who earns. */
  readonly accountId: string;
  readonly isConnected: boolean;
  /** Attempts that it has, and those that it was told to stop and has not confirmed. */
  attempts(): AttemptId[];
  /** Whether any attempt takes one of its slots. */
  readonly isBusy: boolean;
  /** Whether the attempt takes one of its slots: it was assigned here and the Island has not finished with it. */
  has(attempt: AttemptId): boolean;
  /** Models that it fetches now; empty before its first `hello`. */
  readonly downloads: SchedulerIsland["downloads"];
  /** Free memory, as it last said; null: not known. */
  readonly freeRamBytes: number | null;
  readonly freeVramBytes: number | null;
  /** °C of its hottest part; null: not known. */
  readonly temperatureC: number | null;
  /** 0 to 1, of its busiest graphics card; null: not known. */
  readonly gpuLoad: number | null;
  /** Cargos whose model is on its way into memory. */
  readonly loading: readonly string[];
  readonly slotsInUse: number;
  /** What its owner allows; undefined: everything, or not known. */
  readonly policy: OwnerPolicy | undefined;
  /** What its agent can do beyond the first version of the protocol. */
  readonly features: readonly string[];
}
