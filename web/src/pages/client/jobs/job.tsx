import type { Job } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource, type Resource } from "../../../app/resource.ts";
import { Link, navigate, type PageProps } from "../../../app/router.tsx";
import { ActionError, useAction } from "../../../components/action.tsx";
import { CopyButton } from "../../../components/copy-button.tsx";
import { ConfirmDialog } from "../../../components/dialog.tsx";
import { goneIsDone } from "../../../components/error-message.ts";
import { FeedView } from "../../../components/feed-view.tsx";
import { useJobFeed, type JobFeed } from "../../../components/job-feed.ts";
import { formatCredits, formatDuration, formatRate, formatWhole } from "../../../components/numbers.ts";
import { JsonText, Output } from "../../../components/output.tsx";
import { Fact, PageHead } from "../../../components/page-head.tsx";
import { Loaded } from "../../../components/states.tsx";
import { JobStatusBadge, UNFINISHED } from "../../../components/status.tsx";
import { Elapsed } from "../../../components/time.tsx";
import { Waiting } from "../../../components/waiting.tsx";
import { Placement } from "./placement.tsx";
import { Timeline } from "./timeline.tsx";
import { Verification } from "./verification.tsx";

/**
 * Poll interval of a waiting job. The waiting reason changes with the network and not with the job, and coordinators
 * compute it on request. Events would require computing it for all waiting jobs of all listeners, so the page polls the
 * one job that it shows.
 */
const WAITING_MS = 3_000;

export function JobPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const job = useResource((signal) => api().jobs.get(id, { signal }), [id]);
  const isUnfinished = job.value !== undefined && UNFINISHED.has(job.value.status);
  const [isWatched, setWatched] = useState(false);
  if (isUnfinished && !isWatched) setWatched(true);
  const feed = useJobFeed(isWatched ? id : null);
  const { changes, text, image } = feed;
  const hasOutput = text !== "" || image !== null;
  useEffect(() => {
    if (changes > 0 || hasOutput) job.reload();
  }, [changes, hasOutput]);
  const mayWait = isUnfinished && !hasOutput && job.value?.status !== "running";
  useEffect(() => {
    if (!mayWait) return undefined;
    const timer = setInterval(() => document.hidden || job.reload(), WAITING_MS);
    return () => clearInterval(timer);
  }, [mayWait]);
  return (
    <>
      <PageHead
        title={
          <>
            Job <span class="id">{id}</span>
          </>
        }
        back={{ to: "/jobs", label: "Jobs" }}
      >
        <CopyButton text={id} label="Copy id" />
        {job.value !== undefined && <Actions job={job.value} resource={job} />}
      </PageHead>
      <Loaded of={job} what="the job">
        {(value) => (
          <>
            <Detail job={value} feed={isWatched ? feed : null} />
            {value.placement !== null && <Placement placement={value.placement} />}
          </>
        )}
      </Loaded>
    </>
  );
}

function Actions({ job, resource }: { readonly job: Job; readonly resource: Resource<Job> }) {
  const [isAsking, setAsking] = useState(false);
  const cancel = useAction(async () => {
    try {
      await api().jobs.cancel(job.id);
    } finally {
      // Shows the final state if the job has ended in the meantime.
      resource.reload();
    }
  });
  const remove = useAction(async () => {
    await goneIsDone(api().jobs.deleteContent(job.id));
    navigate("/jobs");
  });
  return (
    <>
      <ActionError action={cancel} />
      {UNFINISHED.has(job.status) ? (
        <button type="button" class="button danger" disabled={cancel.isBusy} onClick={() => cancel.run()}>
          Cancel
        </button>
      ) : (
        job.input_removed_at === null && (
          <button type="button" class="button" onClick={() => setAsking(true)}>
            Remove content
          </button>
        )
      )}
      {isAsking && (
        <ConfirmDialog
          title="Remove input and output?"
          confirm="Remove permanently"
          action={remove}
          onClose={() => setAsking(false)}
        >
          <p>Removed content cannot be restored. The job keeps its state, usage and charge.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Detail({ job, feed }: { readonly job: Job; readonly feed: JobFeed | null }) {
  return (
    <div class="detail">
      <div class="detail-main">
        <section class="panel" aria-labelledby="output-title">
          <div class="panel-head">
            <h2 id="output-title">Output</h2>
            <JobStatusBadge status={job.status} />
          </div>
          {job.waiting !== null && <WaitingBanner job={job} waiting={job.waiting} />}
          {job.error !== null && feed?.ending?.type !== "error" && (
            <p class="form-error" role="alert">
              {job.error.code}: {job.error.message}
            </p>
          )}
          {feed === null ? <StoredOutput job={job} /> : <FeedView feed={feed} isExplained={job.waiting !== null} />}
        </section>
        <section class="panel" aria-labelledby="input-title">
          <h2 id="input-title">Input</h2>
          {job.input_removed_at === null ? (
            <JsonText value={job.input} label="Input" />
          ) : (
            <p class="muted">The input was removed.</p>
          )}
        </section>
      </div>
      <aside class="detail-side">
        <section class="panel" aria-labelledby="facts-title">
          <h2 id="facts-title">Details</h2>
          <Facts job={job} />
        </section>
        <section class="panel" aria-labelledby="timeline-title">
          <h2 id="timeline-title">Timeline</h2>
          <Timeline job={job} />
        </section>
      </aside>
    </div>
  );
}

function WaitingBanner({ job, waiting }: { readonly job: Job; readonly waiting: NonNullable<Job["waiting"]> }) {
  return (
    <div class="banner" role="status">
      <Waiting waiting={waiting} />
      {waiting.phase === null && (
        <p class="muted">
          Position <span class="num">{formatWhole(waiting.position)}</span> in the queue of its Cargo. Waiting for{" "}
          <Elapsed since={job.created_at} />.
        </p>
      )}
    </div>
  );
}

function StoredOutput({ job }: { readonly job: Job }) {
  if (job.output_removed_at !== null) return <p class="muted">The output was removed.</p>;
  if (job.status === "completed") return <Output value={job.output} />;
  return <PartialOutput id={job.id} />;
}

/** Shows the output that a job produced before it failed or was cancelled. */
function PartialOutput({ id }: { readonly id: string }) {
  const output = useResource((signal) => api().jobs.output(id, { signal }), [id]);
  return (
    <Loaded of={output} what="the output">
      {(value) => <Output value={value.output} />}
    </Loaded>
  );
}

function Facts({ job }: { readonly job: Job }) {
  const { usage, timings } = job;
  const rate = usage === null || timings === null ? 0 : (usage.completion_tokens * 1_000) / Math.max(1, timings.run_ms);
  return (
    <dl class="facts">
      <Fact label="Cargo">
        <Link to={`/catalog/${job.workload_slug}`}>{job.workload_slug}</Link>
      </Fact>
      <Fact label="Priority">
        <span class="num">{job.priority}</span>
      </Fact>
      <Fact label="Attempts">
        <span class="num">{job.attempts}</span>
      </Fact>
      {job.batch_id !== null && (
        <Fact label="Batch">
          <Link to={`/batches/${job.batch_id}`} class="id">
            {job.batch_id}
          </Link>
        </Fact>
      )}
      {job.island_id !== null && (
        <Fact label="Island">
          <span class="id">{job.island_id}</span>
        </Fact>
      )}
      {job.ignored.length > 0 && <Fact label="Ignored parameters">{job.ignored.join(", ")}</Fact>}
      {job.duration_ms !== null && (
        <Fact label="Duration">
          <span class="num">{formatDuration(job.duration_ms)}</span>
        </Fact>
      )}
      {usage !== null && (
        <>
          <Fact label="Tokens">
            <span class="num">
              {formatWhole(usage.prompt_tokens)} in, {formatWhole(usage.completion_tokens)} out
            </span>
          </Fact>
          <Fact label="Charged">
            <span class="num">{formatCredits(usage.credits_used)} credits</span>
          </Fact>
        </>
      )}
      {job.verification !== null && (
        <Fact label="Checked">
          <Verification of={job.verification} />
        </Fact>
      )}
      {rate > 0 && (
        <Fact label="Speed">
          <span class="num">{formatRate(rate)} tokens/s</span>
        </Fact>
      )}
      {job.webhook !== null && (
        <Fact label="Webhook">
          <span class="num">{job.webhook.attempts.length}</span> delivery attempts
        </Fact>
      )}
    </dl>
  );
}
