import type { JobStatus, KnownJob } from "@atoll/client";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { formatCredits } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { ShortId } from "../../components/short-id.tsx";
import { EmptyState } from "../../components/states.tsx";
import { JobStatusBadge } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { Choice, given } from "./filter-bar.tsx";

const STATUSES: Readonly<Record<string, readonly JobStatus[] | undefined>> = {
  All: undefined,
  Unfinished: ["pending", "queued", "running"],
  Failed: ["failed", "timeout"],
  Completed: ["completed"],
};

const COLUMNS: readonly Column<KnownJob>[] = [
  { label: "State", width: "7.5rem", cell: ({ status }) => <JobStatusBadge status={status} /> },
  { label: "Job", width: "minmax(8rem, 1fr)", cell: ({ id }) => <ShortId id={id} /> },
  { label: "Cargo", width: "minmax(7rem, 12rem)", isExtra: true, cell: (job) => job.workload_slug },
  {
    label: "Account",
    width: "minmax(7rem, 12rem)",
    cell: ({ account_id: id, account_email: email }) => <Link to={`/operator/accounts/${id}`}>{email ?? id}</Link>,
  },
  { label: "Error", width: "minmax(4rem, 8rem)", isExtra: true, cell: (job) => job.error_code ?? "" },
  { label: "Attempts", width: "5rem", isNumber: true, isExtra: true, cell: ({ attempts }) => attempts },
  { label: "Charged", width: "5rem", isNumber: true, isExtra: true, cell: (job) => formatCredits(job.credits_used) },
  { label: "Submitted", width: "6.5rem", isExtra: true, cell: (job) => <Ago at={job.created_at} /> },
];

export function NetworkJobsPage() {
  const chosen = query.value.get("show") ?? "All";
  const account = query.value.get("account") ?? "";
  const workload = query.value.get("cargo") ?? "";
  const status = STATUSES[chosen];
  const list = usePagedList<KnownJob>(
    (offset, signal) => {
      const filter = { pageSize: PAGE_SIZE, status, account: given(account), workload: given(workload) };
      return api().operator.jobs(filter, { signal }).page(offset);
    },
    ({ id }) => id,
    [chosen, account, workload],
  );
  const of = [account === "" ? "" : `the account ${account}`, workload === "" ? "" : `the Cargo ${workload}`].filter(
    (part) => part !== "",
  );
  return (
    <>
      <PageHead
        title="Jobs"
        note={of.length === 0 ? "Jobs of all accounts, without inputs and outputs." : `Jobs of ${of.join(" and ")}.`}
      >
        <Choice name="show" label="Which jobs" options={Object.keys(STATUSES)} />
      </PageHead>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Jobs of the network"
        what="the jobs"
        empty={<EmptyState title="No matching jobs" />}
      />
    </>
  );
}
