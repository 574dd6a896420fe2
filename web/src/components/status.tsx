import type { Island, JobStatus, StandingState } from "@atoll/client";

const JOB_TONES: Record<JobStatus, string> = {
  pending: "waiting",
  queued: "waiting",
  running: "active",
  completed: "good",
  failed: "bad",
  cancelled: "neutral",
  timeout: "bad",
};
const ISLAND_TONES: Record<Island["status"], string> = {
  online: "good",
  paused: "waiting",
  quarantined: "bad",
  offline: "neutral",
  suspended: "bad",
};

const STANDING_TONES: Record<StandingState, string> = {
  new: "waiting",
  proven: "good",
  trusted: "good",
  quarantined: "bad",
};

export function StandingBadge({ state }: { readonly state: StandingState }) {
  return <Badge tone={STANDING_TONES[state]}>{state}</Badge>;
}

export function JobStatusBadge({ status }: { readonly status: JobStatus }) {
  return <Badge tone={JOB_TONES[status]}>{status}</Badge>;
}

export function IslandStatusBadge({ status }: { readonly status: Island["status"] }) {
  return <Badge tone={ISLAND_TONES[status]}>{status}</Badge>;
}

/** A state as a word with a coloured dot. The word carries the meaning, not the colour. */
export function Badge({ tone, children }: { readonly tone: string; readonly children: string }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

export const UNFINISHED: ReadonlySet<string> = new Set<JobStatus>(["pending", "queued", "running"]);
