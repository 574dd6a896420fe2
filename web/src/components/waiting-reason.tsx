import type { Job } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.ts";
import { useLive } from "../app/live.ts";
import { Waiting } from "./waiting.tsx";

/**
 * Poll interval of the waiting reason. It changes with the network and not with the job, so there is no event; see
 * `job.tsx`.
 */
const POLL_MS = 2_000;

/**
 * Shows why the chat that was just sent has not produced a token yet. Events contain the id of the chat's job, and the
 * job contains the reason.
 */
export function WaitingReason({ model }: { readonly model: string }) {
  const [jobId, setJobId] = useState<string | null>(null);
  const [waiting, setWaiting] = useState<Job["waiting"]>(null);
  useLive("job", (job) => {
    if (job.workload_slug === model && job.completed_at === null) setJobId(job.id);
  });
  useEffect(() => {
    if (jobId === null) return undefined;
    const poll = (): void => {
      if (document.hidden) return;
      api()
        .jobs.get(jobId)
        .then(
          (job) => setWaiting(job.waiting),
          // Without the job, no reason can be shown.
          () => setWaiting(null),
        );
    };
    poll();
    const timer = setInterval(poll, POLL_MS);
    return () => clearInterval(timer);
  }, [jobId]);
  return (
    <div class="muted" role="status">
      <span class="spinner" aria-hidden="true" />{" "}
      {waiting === null ? "Waiting for an Island" : <Waiting waiting={waiting} />}
    </div>
  );
}
