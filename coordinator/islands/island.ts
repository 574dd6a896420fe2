import type { FromCoordinator } from "../../shared/protocol/from-coordinator.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { SchedulerIsland } from "../scheduler/events.ts";

export interface IslandLink {
  /** False once the socket is closing; frames sent then are lost. */
  readonly isOpen: boolean;
  send(frame: FromCoordinator): void;
  /** Sends `goodbye` and closes. `retryAfterMs` null: do not reconnect. `address`: coordinator to connect to. */
  dismiss(reason: string, retryAfterMs: number | null, address?: string): void;
}

export interface AttemptId {
  readonly jobId: string;
  readonly attempt: number;
}

/** Read-only view of an Island that is connected or in its grace period. Only methods of `IslandRegistry` change it. */
export interface IslandView {
  readonly hostId: string;
  /** The owner's account, which earns the credits. */
  readonly accountId: string;
  readonly isConnected: boolean;
  /** Returns the Island's current attempts, and the cancelled ones that it has not confirmed. */
  attempts(): AttemptId[];
  readonly isBusy: boolean;
  /** Returns true if the attempt takes one of the Island's slots: it was assigned here and is not finished. */
  has(attempt: AttemptId): boolean;
  /** Downloads in progress; empty before the Island's first `hello`. */
  readonly downloads: SchedulerIsland["downloads"];
  /** Load of the processor, 0 to 1; null if unknown. */
  readonly cpuLoad: number | null;
  /** Free memory as last reported; null if unknown. */
  readonly freeRamBytes: number | null;
  readonly freeVramBytes: number | null;
  /** Temperature of the Island's hottest part, in °C; null if unknown. */
  readonly temperatureC: number | null;
  /** Load of the Island's busiest graphics card, 0 to 1; null if unknown. */
  readonly gpuLoad: number | null;
  /** Slugs of the Cargos whose model is being loaded into memory. */
  readonly loading: readonly string[];
  readonly slotsInUse: number;
  /** What the owner allows; undefined if everything is allowed or the policy is unknown. */
  readonly policy: OwnerPolicy | undefined;
  /** Protocol features of the Island's agent beyond the first version. */
  readonly features: readonly string[];
  /** Models that engines of the host serve; undefined: none. */
  readonly engineModels: SchedulerIsland["engineModels"];
}
