import type { KnownCargo } from "@atoll/client";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { Choice } from "./filter-bar.tsx";

const TONES: Readonly<Record<string, string>> = { offered: "good", waiting: "waiting", disabled: "bad" };

const COLUMNS: readonly Column<KnownCargo>[] = [
  {
    label: "Cargo",
    width: "minmax(9rem, 1fr)",
    cell: ({ slug }) => <Link to={`/operator/cargos/${encodeURIComponent(slug)}`}>{slug}</Link>,
  },
  { label: "State", width: "8rem", cell: ({ status }) => <CargoState status={status} /> },
  { label: "Runtime", width: "6rem", isExtra: true, cell: (cargo) => cargo.runtime_type ?? "" },
  { label: "From", width: "6rem", isExtra: true, cell: ({ origin }) => origin },
  { label: "Owner", width: "minmax(6rem, 14rem)", isExtra: true, cell: (cargo) => cargo.owner_email ?? "" },
  { label: "Pinned", width: "5rem", cell: ({ pinned }) => (pinned === null ? "" : pinned ? "yes" : "no") },
];

export function NetworkCargosPage() {
  const status = query.value.get("status") ?? "waiting";
  const list = usePagedList<KnownCargo>(
    (offset, signal) => {
      const filter = { pageSize: PAGE_SIZE, status: status === "all" ? undefined : ("waiting" as const) };
      return api().operator.cargos.list(filter, { signal }).page(offset);
    },
    ({ slug }) => slug,
    [status],
  );
  return (
    <>
      <PageHead title="Cargo approvals" note="What Islands run is signed here first.">
        <Choice name="status" label="State" options={["waiting", "all"]} />
      </PageHead>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ slug }) => slug}
        label="Cargos of the network"
        what="the Cargos"
        empty={<EmptyState title="No Cargo waits for an approval" />}
      />
    </>
  );
}

export function CargoState({ status }: { readonly status: string }) {
  return <Badge tone={TONES[status] ?? "neutral"}>{status}</Badge>;
}
