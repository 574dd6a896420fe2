import type { Batch, JobSummary } from "@atoll/client";
import { api } from "../../../app/api.ts";
import { useLive } from "../../../app/live.ts";
import { useResource } from "../../../app/resource.ts";
import { Link, type PageProps } from "../../../app/router.tsx";
import { ActionError, useAction } from "../../../components/action.tsx";
import { formatWhole } from "../../../components/numbers.ts";
import { Fact, PageHead } from "../../../components/page-head.tsx";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { Loaded } from "../../../components/states.tsx";
import { JobStatusBadge } from "../../../components/status.tsx";
import { formatTime } from "../../../components/time.tsx";

const STATES = ["completed", "running", "queued", "pending", "failed", "timeout", "cancelled"] as const;

export function BatchPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const batch = useResource((signal) => api().batches.get(id, { signal }), [id]);
  useLive("job", (job) => {
    if (job.batch_id !== id || batch.value === undefined) return;
    const next = withJob(batch.value, job);
    batch.set(next);
    // Only the coordinator knows when and how the batch ended.
    if (endedOf(next.counts) === next.counts.total) batch.reload();
  });
  const cancel = useAction(async () => batch.set(await api().batches.cancel(id)));
  const isUnfinished = batch.value?.status === "pending" || batch.value?.status === "running";
  return (
    <>
      <PageHead
        title={
          <>
            Batch <span class="id">{id}</span>
          </>
        }
        back={{ to: "/batches", label: "Batches" }}
      >
        <ActionError action={cancel} />
        {isUnfinished && (
          <button type="button" class="button danger" disabled={cancel.isBusy} onClick={() => cancel.run()}>
            Cancel all
          </button>
        )}
      </PageHead>
      <Loaded of={batch} what="the batch">
        {(value) => (
          <>
            <Progress batch={value} />
            <section class="panel" aria-labelledby="jobs-title">
              <h2 id="jobs-title">Jobs</h2>
              <SimpleTable
                rows={value.jobs.map((job, index) => ({ ...job, number: index + 1 }))}
                label="Jobs of the batch"
                keyOf={(job) => job.id}
                columns={[
                  { label: "Input", isNumber: true, cell: ({ number }) => number },
                  { label: "State", cell: ({ status }) => <JobStatusBadge status={status} /> },
                  {
                    label: "Job",
                    cell: (job) => (
                      <Link to={`/jobs/${job.id}`} class="id">
                        {job.id}
                      </Link>
                    ),
                  },
                ]}
              />
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}

function withJob(batch: Batch, { id, status }: JobSummary): Batch {
  const before = batch.jobs.find((job) => job.id === id);
  if (before === undefined || before.status === status) return batch;
  const { counts } = batch;
  return {
    ...batch,
    status: batch.status === "pending" ? "running" : batch.status,
    jobs: batch.jobs.map((job) => (job.id === id ? { id, status } : job)),
    counts: { ...counts, [before.status]: counts[before.status] - 1, [status]: counts[status] + 1 },
  };
}

const endedOf = ({ completed, failed, timeout, cancelled }: Batch["counts"]): number =>
  completed + failed + timeout + cancelled;

function Progress({ batch }: { readonly batch: Batch }) {
  const { counts } = batch;
  const ended = endedOf(counts);
  return (
    <section class="panel" aria-label="Progress">
      <label class="progress">
        <span>
          <span class="num">{formatWhole(ended)}</span> of <span class="num">{formatWhole(counts.total)}</span> jobs
          have ended; {batch.status}
        </span>
        <progress value={ended} max={counts.total} />
      </label>
      <dl class="facts wide">
        {STATES.filter((state) => counts[state] > 0).map((state) => (
          <Fact key={state} label={state}>
            <span class="num">{formatWhole(counts[state])}</span>
          </Fact>
        ))}
        <Fact label="Cargo">
          <Link to={`/catalog/${batch.workload_slug}`}>{batch.workload_slug}</Link>
        </Fact>
        <Fact label="If a job fails">
          {batch.fail_mode === "fail_fast" ? "cancel the other jobs" : "continue with the other jobs"}
        </Fact>
        <Fact label="Submitted">{formatTime(batch.created_at)}</Fact>
      </dl>
    </section>
  );
}
