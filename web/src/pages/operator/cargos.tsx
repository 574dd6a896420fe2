import type { ApproveCargo, CargoReview, KnownCargo } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { approvalChanges } from "../../app/approvals.tsx";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { ActionError, useAction } from "../../components/action.tsx";
import { formatCredits } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { AddModelDialog } from "./add-model.tsx";
import { Choice } from "./filter-bar.tsx";

const TONES: Readonly<Record<string, string>> = { offered: "good", waiting: "waiting", disabled: "bad" };
/** Labels of states whose API name is unclear. */
const LABELS: Readonly<Record<string, string>> = { unpinned: "off", off: "off by owner" };

/** API states by filter name. */
const FILTERS = { waiting: "waiting", off: "unpinned", all: undefined } as const;
const EMPTY: Readonly<Record<string, string>> = {
  waiting: "No Cargo is waiting for approval",
  off: "No shipped Cargo is disabled",
  all: "No Cargos",
};

export function NetworkCargosPage() {
  const chosen = query.value.get("status") ?? "waiting";
  const filter = chosen === "off" || chosen === "all" ? chosen : "waiting";
  const list = usePagedList<KnownCargo>(
    (offset, signal) =>
      api().operator.cargos.list({ pageSize: PAGE_SIZE, status: FILTERS[filter] }, { signal }).page(offset),
    ({ slug }) => slug,
    [filter],
  );
  const [isAdding, setAdding] = useState(false);
  const offer = useAction(async (slug: string) => {
    // Approve exactly the pin that was just looked up.
    await api().operator.cargos.approve(slug, approvalOf(await api().operator.cargos.review(slug)));
    approvalChanges.value += 1;
    list.reload();
  });
  const columns: readonly Column<KnownCargo>[] = [
    {
      label: "Cargo",
      width: "minmax(9rem, 1fr)",
      cell: ({ slug }) => <Link to={`/operator/cargos/${encodeURIComponent(slug)}`}>{slug}</Link>,
    },
    { label: "State", width: filter === "off" ? "4rem" : "8rem", cell: ({ status }) => <CargoState status={status} /> },
    { label: "Runtime", width: "6rem", isExtra: true, cell: (cargo) => cargo.runtime_type ?? "" },
    { label: "From", width: "6rem", isExtra: true, cell: ({ origin }) => origin },
    { label: "Owner", width: "minmax(6rem, 14rem)", isExtra: true, cell: (cargo) => cargo.owner_email ?? "" },
    {
      label: "Price",
      width: "5rem",
      isNumber: true,
      isExtra: true,
      cell: (cargo) => (cargo.price_per_job === null ? "" : formatCredits(cargo.price_per_job)),
    },
    {
      label: "Pinned",
      width: "5rem",
      isExtra: true,
      cell: ({ pinned }) => (pinned === null ? "" : pinned ? "yes" : "no"),
    },
    {
      label: "Action",
      width: "6rem",
      cell: ({ slug, status }) =>
        status === "unpinned" && (
          <button
            type="button"
            class="button small"
            disabled={offer.isBusy}
            onClick={() => offer.run(slug)}
            aria-label={`Offer ${slug}`}
          >
            Offer
          </button>
        ),
    },
  ];
  return (
    <>
      <PageHead title="Cargo approvals" note="Approving a Cargo signs it, so that all Islands may run it.">
        <Choice name="status" label="State" options={["waiting", "off", "all"]} />
        <button type="button" class="button" onClick={() => setAdding(true)}>
          Add a model
        </button>
      </PageHead>
      {filter === "off" && (
        <p class="muted">
          Shipped Cargos that are not approved yet. “Offer” looks up the current files at their sources and signs
          exactly those. Open a Cargo to see everything that is signed.
        </p>
      )}
      <ActionError action={offer} />
      {isAdding && <AddModelDialog onClose={() => setAdding(false)} />}
      <VirtualTable
        list={list}
        columns={columns}
        keyOf={({ slug }) => slug}
        label="Cargos of the network"
        what="the Cargos"
        empty={
          <EmptyState title={EMPTY[filter] ?? ""}>
            {filter === "waiting" && <Link to="/operator/cargos?status=off">Shipped Cargos that are off</Link>}
          </EmptyState>
        }
      />
    </>
  );
}

/** Returns an approval of exactly the shown revision and pin. */
export function approvalOf({ revision, pin }: CargoReview): ApproveCargo {
  return pin?.value == null ? { revision } : { revision, [pin.kind]: pin.value };
}

export function CargoState({ status }: { readonly status: string }) {
  return <Badge tone={TONES[status] ?? "neutral"}>{LABELS[status] ?? status}</Badge>;
}
