import type { Job } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../app/api.ts";
import { useLive } from "../app/live.ts";
import { Waiting } from "./waiting.tsx";

/** It changes with the network, not with the job, so no event tells it; see the page of a job. */
const ASK_MS = 2_000;

/** Why the chat that was just sent has no token yet. A chat is a job: events tell its id, the job tells the reason. */
export function WaitingReason({ model }: { readonly model: string }) {
  const [jobId, setJobId] = useState<string | null>(null);
  const [waiting, setWaiting] = useState<Job["waiting"]>(null);
  useLive("job", (job) => {
    if (job.workload_slug === model && job.completed_at === null) setJobId(job.id);
  });
  useEffect(() => {
    if (jobId === null) return undefined;
    const ask = (): void => {
      if (document.hidden) return;
      api()
        .jobs.get(jobId)
        .then(
          (job) => setWaiting(job.waiting),
          // Then there is no reason to show.
          () => setWaiting(null),
        );
    };
    ask();
    const timer = setInterval(ask, ASK_MS);
    return () => clearInterval(timer);
  }, [jobId]);
  return (
    <div class="muted" role="status">
      <span class="spinner" aria-hidden="true" />{" "}
      {waiting === null ? "Waits for an Island" : <Waiting waiting={waiting} />}
    </div>
  );
}
