import type { AuditLine } from "@atoll/client";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";

const COLUMNS: readonly Column<AuditLine>[] = [
  { label: "When", width: "6.5rem", cell: ({ at }) => <Ago at={at} /> },
  { label: "Who", width: "minmax(7rem, 14rem)", cell: (line) => line.actor_email ?? line.actor },
  { label: "Did", width: "minmax(8rem, 13rem)", cell: ({ action }) => action },
  {
    label: "To",
    width: "minmax(8rem, 1fr)",
    isExtra: true,
    cell: ({ target }) => <span class="id">{`${target.kind} ${target.id}`}</span>,
  },
  { label: "Change", width: "minmax(8rem, 1.5fr)", isExtra: true, cell: (line) => <Change line={line} /> },
  { label: "From", width: "9rem", isExtra: true, cell: ({ via, origin }) => `${via}, ${origin}` },
];

export function AuditPage() {
  const list = usePagedList<AuditLine>(
    (offset, signal) => api().operator.audit({ pageSize: PAGE_SIZE }, { signal }).page(offset),
    ({ id }) => id,
    [],
  );
  return (
    <>
      <PageHead
        title="Audit log"
        note="What operators did, by the API and by commands. Nothing is changed or removed here."
      />
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Audit log"
        what="the audit log"
        empty={<EmptyState title="Nothing was done yet" />}
      />
    </>
  );
}

function Change({ line: { before, after } }: { readonly line: AuditLine }) {
  const text = [before, after].map((value) => (value === null || value === undefined ? "" : JSON.stringify(value)));
  const change = text[0] === "" ? text[1] : `${text[0]} → ${text[1]}`;
  return (
    <span class="id" title={change}>
      {change}
    </span>
  );
}
