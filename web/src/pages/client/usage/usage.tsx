import type { LedgerLine } from "@atoll/client";
import { api } from "../../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../../app/paged-list.ts";
import { Link } from "../../../app/router.tsx";
import { account } from "../../../app/session.ts";
import { formatCredits } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { ShortId } from "../../../components/short-id.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { Ago } from "../../../components/time.tsx";
import { UsageCharts } from "./usage-charts.tsx";
import { VirtualTable, type Column } from "../../../components/virtual-table.tsx";

const KINDS: Readonly<Record<LedgerLine["kind"], string>> = {
  grant: "Given",
  correction: "Taken back",
  hold: "Set aside",
  charge: "Charged",
  release: "Returned",
  earning: "Earned",
};

const COLUMNS: readonly Column<LedgerLine>[] = [
  { label: "When", width: "minmax(5.5rem, 8rem)", cell: (line) => <Ago at={line.created_at} /> },
  { label: "What", width: "minmax(4rem, 6rem)", cell: ({ kind }) => KINDS[kind] },
  {
    label: "For",
    width: "minmax(8rem, 1fr)",
    isExtra: true,
    cell: ({ job_id: job, batch_id: batch }) =>
      job !== null ? (
        <Link to={`/jobs/${job}`} aria-label={job}>
          <ShortId id={job} />
        </Link>
      ) : batch !== null ? (
        <Link to={`/batches/${batch}`} aria-label={batch}>
          <ShortId id={batch} />
        </Link>
      ) : (
        ""
      ),
  },
  { label: "Change", width: "minmax(4rem, 7rem)", isNumber: true, cell: ({ amount }) => <Signed value={amount} /> },
  { label: "Set aside", width: "7rem", isNumber: true, isExtra: true, cell: ({ held }) => <Signed value={held} /> },
  { label: "Balance", width: "minmax(4.5rem, 7rem)", isNumber: true, cell: ({ balance }) => formatCredits(balance) },
];

export function UsagePage() {
  const list = usePagedList<LedgerLine>(
    (offset, signal) => api().account.ledger({ pageSize: PAGE_SIZE }, { signal }).page(offset),
    ({ id }) => id,
    [],
  );
  return (
    <>
      <PageHead title="Usage">
        <p class="figure">
          <span class="num">{formatCredits(account.value?.credits ?? 0)}</span>{" "}
          <span class="muted">credits to spend</span>
        </p>
      </PageHead>
      <UsageCharts />
      <h2>Ledger</h2>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Ledger"
        what="the ledger"
        empty={
          <EmptyState title="Nothing was booked yet">
            <p>Each job books what it costs, and each job that your Islands run what it earns.</p>
          </EmptyState>
        }
      />
    </>
  );
}

function Signed({ value }: { readonly value: number }) {
  if (value === 0) return <span class="muted">0</span>;
  return <span class={value > 0 ? "plus" : ""}>{`${value > 0 ? "+" : "−"}${formatCredits(Math.abs(value))}`}</span>;
}
