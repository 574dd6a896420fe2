import type { JobStatus, JobSummary } from "@atoll/client";
import { api } from "../../../app/api.ts";
import { useLive } from "../../../app/live.ts";
import { PAGE_SIZE, usePagedList } from "../../../app/paged-list.ts";
import { Link, navigate, query } from "../../../app/router.tsx";
import { formatDuration } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { ShortId } from "../../../components/short-id.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { JobStatusBadge } from "../../../components/status.tsx";
import { Ago, Elapsed } from "../../../components/time.tsx";
import { VirtualTable, type Column } from "../../../components/virtual-table.tsx";

const FILTERS: readonly { readonly label: string; readonly statuses: readonly JobStatus[] }[] = [
  { label: "All", statuses: [] },
  { label: "Unfinished", statuses: ["pending", "queued", "running"] },
  { label: "Completed", statuses: ["completed"] },
  { label: "Failed", statuses: ["failed", "timeout"] },
  { label: "Cancelled", statuses: ["cancelled"] },
];

const COLUMNS: readonly Column<JobSummary>[] = [
  { label: "State", width: "7.5rem", cell: ({ status }) => <JobStatusBadge status={status} /> },
  {
    label: "Job",
    width: "minmax(7rem, 1fr)",
    cell: ({ id }) => (
      <Link to={`/jobs/${id}`} aria-label={id}>
        <ShortId id={id} />
      </Link>
    ),
  },
  { label: "Cargo", width: "minmax(8rem, 14rem)", cell: (job) => job.workload_slug, isExtra: true },
  { label: "Submitted", width: "7rem", cell: (job) => <Ago at={job.created_at} /> },
  { label: "Took", width: "6rem", isNumber: true, isExtra: true, cell: (job) => <Took job={job} /> },
];

export function JobsPage() {
  const chosen = query.value.get("show") ?? "All";
  const cargo = query.value.get("cargo") ?? "";
  const statuses = FILTERS.find(({ label }) => label === chosen)?.statuses ?? [];
  const list = usePagedList<JobSummary>(
    (offset, signal) => {
      const filter = { pageSize: PAGE_SIZE, ...(statuses.length === 0 ? {} : { status: statuses }) };
      return api()
        .jobs.list({ ...filter, ...(cargo === "" ? {} : { workload: cargo }) }, { signal })
        .page(offset);
    },
    ({ id }) => id,
    [chosen, cargo],
  );
  useLive("job", (job) => {
    const isWanted =
      (statuses.length === 0 || statuses.includes(job.status)) && (cargo === "" || cargo === job.workload_slug);
    if (isWanted) list.put(job);
    else list.drop(job.id);
  });
  const show = (label: string): void =>
    navigate(`/jobs?show=${label}${cargo === "" ? "" : `&cargo=${cargo}`}`, { replace: true });
  return (
    <>
      <PageHead title="Jobs" note={cargo === "" ? undefined : `Jobs of the Cargo ${cargo}`}>
        <div class="segmented" role="group" aria-label="Which jobs">
          {FILTERS.map(({ label }) => (
            <button key={label} type="button" aria-pressed={label === chosen} onClick={() => show(label)}>
              {label}
            </button>
          ))}
        </div>
      </PageHead>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Jobs"
        what="the jobs"
        empty={
          <EmptyState title={statuses.length === 0 ? "No jobs yet" : "No jobs in this state"}>
            <p>
              Jobs from this console and from your API keys appear here. Start one in the <Link to="/">playground</Link>{" "}
              or from the <Link to="/catalog">catalog</Link>.
            </p>
          </EmptyState>
        }
      />
    </>
  );
}

function Took({ job }: { readonly job: JobSummary }) {
  if (job.completed_at === null) return <Elapsed since={job.created_at} />;
  return <span class="num">{formatDuration(Date.parse(job.completed_at) - Date.parse(job.created_at))}</span>;
}
