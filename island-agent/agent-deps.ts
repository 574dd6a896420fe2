import type { RuntimeType } from "../shared/cargo.ts";
import type { Clock } from "../shared/clock.ts";
import type { Hardware } from "../shared/hardware.ts";
import type { Logger } from "../shared/logger.ts";
import type { CargoFiles } from "./artifacts/cargo-files.ts";
import type { Availability } from "./availability/availability.ts";
import type { ExecutorDeps } from "./execution/executor.ts";
import type { UsageReport } from "./execution/island-reports.ts";
import type { Recommendation } from "./preload/recommendations.ts";
import type { CargoRuntime } from "./runtimes/runtime.ts";
import type { AdmissionOptions } from "./session/cargo-admission.ts";
import type { CoordinatorAddresses } from "./session/coordinator-addresses.ts";

/** What the owner can change while the agent runs, besides its hours. */
export interface Offer {
  /** Jobs that run at once, at least 1. */
  readonly slots: number;
  /** After the owner's caps. */
  readonly hardware: Hardware;
}

export interface AgentOptions extends AdmissionOptions {
  readonly coordinators: CoordinatorAddresses;
  readonly token: string;
  readonly hostId: string;
  readonly version: string;
  /** Longest wait for the acknowledgement of the last results after the jobs have ended, with reconnects. */
  readonly farewellLimitMs: number;
}

export interface AgentDeps extends Pick<ExecutorDeps, "jobFiles" | "onEnded"> {
  readonly clock: Clock;
  /** Until {@link IslandAgent.change}. */
  readonly offer: Offer;
  /** Usable runtimes with their versions. The map may get more of them; call `announce` then. */
  readonly runtimes: ReadonlyMap<RuntimeType, { readonly runtime: CargoRuntime; readonly version: string }>;
  readonly files: Pick<
    CargoFiles,
    "acquire" | "pull" | "preload" | "makeRoom" | "bytesOnDisk" | "cached" | "downloads" | "refusalOf" | "noSpaceFor"
  >;
  /** Whether new jobs are taken. The agent owns it from here on. */
  readonly availability: Availability;
  /** Asks the coordinator what to preload; null: the owner has switched preloads off. */
  readonly recommend: ((hostId: string, signal: AbortSignal) => Promise<readonly Recommendation[]>) | null;
  /** Load of the machine now. */
  readonly usage: () => UsageReport;
  /** RAM that a load can have now; null when unknown. */
  readonly freeRamBytes: () => number | null;
  readonly log: Logger;
  /** Called at the first welcome. */
  readonly onConnected: () => void;
  /** 0 (included) to 1 (excluded); spreads the attempts to reconnect. */
  readonly random?: () => number;
}
