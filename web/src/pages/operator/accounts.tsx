import type { KnownAccount } from "@atoll/client";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { formatBalance, formatWhole } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { Badge } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { Choice, given, Search } from "./filter-bar.tsx";

const COLUMNS: readonly Column<KnownAccount>[] = [
  {
    label: "E-mail",
    width: "minmax(9rem, 1fr)",
    cell: ({ id, email }) => <Link to={`/operator/accounts/${id}`}>{email === "" ? id : email}</Link>,
  },
  { label: "State", width: "7rem", cell: (account) => <AccountState account={account} /> },
  { label: "Credits", width: "6rem", isNumber: true, cell: ({ credits }) => formatBalance(credits) },
  { label: "Set aside", width: "6rem", isNumber: true, isExtra: true, cell: ({ held }) => formatBalance(held) },
  {
    label: "Jobs",
    width: "4rem",
    isNumber: true,
    isExtra: true,
    cell: (account) => formatWhole(account.unfinished_jobs),
  },
  { label: "Islands", width: "4.5rem", isNumber: true, isExtra: true, cell: ({ islands }) => formatWhole(islands) },
  { label: "Opened", width: "6.5rem", isExtra: true, cell: (account) => <Ago at={account.created_at} /> },
];

export function AccountsPage() {
  const search = query.value.get("q") ?? "";
  const show = query.value.get("show") ?? "all";
  const list = usePagedList<KnownAccount>(
    (offset, signal) => {
      const filter = { pageSize: PAGE_SIZE, search: given(search), suspended: show === "suspended" ? true : undefined };
      return api().operator.accounts.list(filter, { signal }).page(offset);
    },
    ({ id }) => id,
    [search, show],
  );
  return (
    <>
      <PageHead title="Accounts">
        <Search label="E-mail or id" />
        <Choice name="show" label="Which accounts" options={["all", "suspended"]} />
      </PageHead>
      <VirtualTable
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        label="Accounts"
        what="the accounts"
        empty={<EmptyState title="No matching accounts" />}
      />
    </>
  );
}

export function AccountState({ account: { suspended, role } }: { readonly account: KnownAccount }) {
  if (suspended !== null) return <Badge tone="bad">suspended</Badge>;
  return role === "operator" ? <Badge tone="active">operator</Badge> : <Badge tone="good">active</Badge>;
}
