import type { KnownIsland } from "@atoll/client";
import { api } from "../../app/api.ts";
import { useState } from "preact/hooks";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { formatMegabytes } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { Choice, given, Search } from "./filter-bar.tsx";

import { SuspendDialog } from "./suspend-dialog.tsx";

/** Characters of the id shown after a name, since several Islands may have the same name. */
const ID_END_CHARS = 6;
const STATUSES = ["online", "offline", "suspended"] as const;

export function NetworkIslandsPage() {
  const status = query.value.get("status") ?? "all";
  const search = query.value.get("q") ?? "";
  const account = query.value.get("account") ?? "";
  const [suspending, setSuspending] = useState<KnownIsland | null>(null);
  const list = usePagedList<KnownIsland>(
    (offset, signal) => {
      const filter = { pageSize: PAGE_SIZE, search: given(search), account: given(account) };
      const wanted = STATUSES.find((each) => each === status);
      return api()
        .operator.islands.list({ ...filter, status: wanted }, { signal })
        .page(offset);
    },
    ({ id }) => id,
    [status, search, account],
  );
  const columns: readonly Column<KnownIsland>[] = [
    { label: "State", width: "6.5rem", cell: (island) => <IslandStatusBadge status={island.status} /> },
    {
      label: "Name",
      width: "minmax(5rem, 1fr)",
      cell: ({ name, id }) => (
        <span title={id}>
          {name} <span class="muted id">{id.slice(-ID_END_CHARS)}</span>
        </span>
      ),
      under: ({ account_id: id, account_email: email }) => <Link to={`/operator/accounts/${id}`}>{email ?? id}</Link>,
    },
    {
      label: "Owner",
      isExtra: true,
      width: "minmax(8rem, 14rem)",
      cell: ({ account_id: id, account_email: email }) => <Link to={`/operator/accounts/${id}`}>{email ?? id}</Link>,
    },
    {
      label: "Slots",
      width: "4.5rem",
      isNumber: true,
      isExtra: true,
      cell: ({ load }) => (load === null ? "" : `${load.slots_busy} of ${load.slots}`),
    },
    {
      label: "Memory",
      width: "5rem",
      isNumber: true,
      isExtra: true,
      cell: ({ hardware }) => formatMegabytes(hardware.ram_mb),
    },
    { label: "Last seen", width: "6rem", isExtra: true, cell: (island) => <Ago at={island.last_seen_at} /> },
    {
      label: "Action",
      width: "6.5rem",
      cell: (island) => (
        <button
          type="button"
          class="button small"
          onClick={() => setSuspending(island)}
          aria-label={`${verb(island)} ${island.name}`}
        >
          {verb(island)}
        </button>
      ),
    },
  ];
  return (
    <>
      <PageHead
        title="Islands"
        note={account === "" ? "Islands of all accounts." : `Islands of the account ${account}.`}
      >
        <Search label="Id or name" />
        <Choice name="status" label="State" options={["all", ...STATUSES]} />
      </PageHead>
      <VirtualTable
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        label="Islands of the network"
        what="the Islands"
        empty={<EmptyState title="No matching Islands" />}
      />
      {suspending !== null && (
        <SuspendDialog
          what={`the Island “${suspending.name}”`}
          isSuspended={isSuspended(suspending)}
          consequence="It is disconnected, and its jobs go to other Islands. It gets no jobs until it is reinstated."
          act={(reason) =>
            isSuspended(suspending)
              ? api().operator.islands.reinstate(suspending.id)
              : api().operator.islands.suspend(suspending.id, reason)
          }
          onDone={list.reload}
          onClose={() => setSuspending(null)}
        />
      )}
    </>
  );
}

const isSuspended = ({ status }: KnownIsland): boolean => status === "suspended";
const verb = (island: KnownIsland): string => (isSuspended(island) ? "Reinstate" : "Suspend");
