import { WAIT_CAUSES } from "../scheduler/explain.ts";
import type { Waiting } from "../scheduler/scheduler.ts";

/** Why a job has not begun: what keeps it from an Island, its Island is not ready yet, or its account's limit is reached. */
export const WAITING_REASONS = [...WAIT_CAUSES, "starting", "account_limit"] as const;
export type JobWaiting = Omit<Waiting, "reason"> & { readonly reason: (typeof WAITING_REASONS)[number] };
