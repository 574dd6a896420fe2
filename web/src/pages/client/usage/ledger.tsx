import type { LedgerLine } from "@atoll/client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { PAGE_SIZE, usePagedList, type PagedList } from "../../../app/paged-list.ts";
import { Link } from "../../../app/router.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { formatBalance, formatCredits } from "../../../components/numbers.ts";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { EmptyState } from "../../../components/states.tsx";
import { Ago } from "../../../components/time.tsx";
import { VirtualTable, type Column } from "../../../components/virtual-table.tsx";
import { entriesOf, type LedgerEntry } from "./ledger-entries.ts";

type Entry = LedgerEntry<LedgerLine>;

const KINDS: Readonly<Record<LedgerLine["kind"], string>> = {
  grant: "Given",
  correction: "Taken back",
  hold: "Set aside",
  charge: "Charged",
  release: "Returned",
  refund: "Refunded",
  earning: "Earned",
};

/** Ledger with one row per job. A click shows the lines booked for the job. */
export function Ledger() {
  const list = useEntries();
  const [shown, show] = useState<Entry | null>(null);
  const columns: readonly Column<Entry>[] = [
    { label: "When", width: "6.5rem", cell: ({ at }) => <Ago at={at} /> },
    {
      label: "What",
      width: "minmax(8rem, 1fr)",
      cell: (entry) => <EntryLabel entry={entry} onShow={() => show(entry)} />,
    },
    {
      label: "Change",
      width: "5.5rem",
      isNumber: true,
      cell: ({ change, batchId }) => (batchId === null ? <Signed value={change} /> : <HeldOnly value={change} />),
    },
    {
      label: "Balance",
      width: "minmax(4.5rem, 7rem)",
      isNumber: true,
      isExtra: true,
      cell: ({ balance }) => formatBalance(balance),
    },
  ];
  return (
    <>
      <h2>Ledger</h2>
      <VirtualTable
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        label="Ledger"
        what="the ledger"
        empty={
          <EmptyState title="No entries yet">
            <p>Charges for your jobs and earnings of your Islands appear here.</p>
          </EmptyState>
        }
      />
      {shown !== null && <EntryLines of={shown} onClose={() => show(null)} />}
    </>
  );
}

/** Reads the ledger's lines page by page, newest first, and returns them as entries. */
function useEntries(): PagedList<Entry> {
  const list = usePagedList<LedgerLine>(
    (offset, signal) => api().account.ledger({ pageSize: PAGE_SIZE }, { signal }).page(offset),
    ({ id }) => id,
    [],
  );
  const { rows, total } = list;
  const lines = useMemo(() => {
    const end = rows.indexOf(undefined);
    return rows.slice(0, end < 0 ? undefined : end).filter((line) => line !== undefined);
  }, [rows]);
  const entries = useMemo(() => entriesOf(lines), [lines]);
  const hasMore = total !== undefined && lines.length < total;
  const last = useRef(0);
  const readOn = (): void => {
    if (hasMore && last.current >= entries.length) list.show(lines.length, lines.length);
  };
  // New lines may belong to entries that are already shown.
  useEffect(readOn, [lines]);
  return {
    ...list,
    rows: hasMore ? [...entries, undefined] : entries,
    total: total === undefined ? undefined : entries.length + (hasMore ? 1 : 0),
    show: (_first, to) => {
      last.current = to;
      readOn();
    },
    put: () => undefined,
    drop: () => undefined,
  };
}

function EntryLabel({
  entry: { kind, slug, jobId, batchId, lines },
  onShow,
}: {
  readonly entry: Entry;
  readonly onShow: () => void;
}) {
  if (jobId !== null) {
    return (
      <>
        <button type="button" class="link-button" onClick={onShow}>
          {slug ?? jobId}
        </button>
        {kind === "hold" && <span class="muted"> set aside</span>}
      </>
    );
  }
  if (batchId !== null) {
    return (
      <>
        {slug} <Link to={`/batches/${batchId}`}>batch</Link> <span class="muted">set aside</span>
      </>
    );
  }
  if (slug === null) {
    return (
      <>
        {KINDS[kind]} <span class="muted">{lines[0]?.note}</span>
      </>
    );
  }
  return (
    <>
      {slug} <span class="muted">{KINDS[kind].toLowerCase()}</span>
    </>
  );
}

function EntryLines({ of: entry, onClose }: { readonly of: Entry; readonly onClose: () => void }) {
  return (
    <Dialog title={entry.slug ?? "Job"} onClose={onClose}>
      <SimpleTable
        rows={entry.lines.toReversed()}
        keyOf={({ id }) => id}
        label="Ledger lines of this entry"
        columns={[
          { label: "When", cell: ({ created_at: at }) => <Ago at={at} /> },
          { label: "What", cell: ({ kind }) => KINDS[kind] },
          { label: "To spend", isNumber: true, cell: ({ amount }) => <Signed value={amount} /> },
          { label: "Set aside", isNumber: true, cell: ({ held }) => <Signed value={held} /> },
        ]}
      />
      <div class="actions">
        <Link to={`/jobs/${entry.jobId}`}>Open the job</Link>
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Shows the hold of a batch without a sign. The charges and releases of its jobs are in separate rows. */
function HeldOnly({ value }: { readonly value: number }) {
  return <span class="muted">{formatCredits(Math.abs(value))}</span>;
}

function Signed({ value }: { readonly value: number }) {
  if (value === 0) return <span class="muted">0</span>;
  return <span class={value > 0 ? "plus" : ""}>{`${value > 0 ? "+" : "−"}${formatCredits(Math.abs(value))}`}</span>;
}
