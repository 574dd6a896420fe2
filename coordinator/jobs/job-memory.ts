import type { ActiveJobRecord } from "../store/jobs/job-store.ts";
import type { Assignee, FinalFailure } from "./active-job.ts";

/** What is known of an unfinished job and not stored: who let it down, who called it impossible, and its trace. A restart forgets it. */
export interface JobMemory {
  readonly jobId: string;
  /** In the order in which they did. */
  readonly letDowns: readonly Assignee[];
  readonly final: FinalFailure | null;
  /** As W3C `traceparent`, of a job that is traced. */
  readonly trace?: string | undefined;
}

/** A job that comes from storage, with what its last owner still knew of it. */
export type ReturningJob = ActiveJobRecord & { readonly memory?: JobMemory | undefined };
