import type { KnownStanding, StandingState } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { PAGE_SIZE, usePagedList } from "../../app/paged-list.ts";
import { Link, query } from "../../app/router.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { formatWhole } from "../../components/numbers.ts";
import { PageHead } from "../../components/page-head.tsx";
import { EmptyState } from "../../components/states.tsx";
import { StandingBadge } from "../../components/status.tsx";
import { Ago } from "../../components/time.tsx";
import { VirtualTable, type Column } from "../../components/virtual-table.tsx";
import { Choice, given } from "./filter-bar.tsx";

const STATES = ["new", "proven", "trusted", "quarantined"] as const satisfies readonly StandingState[];

/** The owner, the Cargo and the state that the form starts with. */
type Chosen = Pick<KnownStanding, "account_id" | "cargo" | "state">;

export function StandingsPage() {
  const state = query.value.get("state") ?? "all";
  const account = query.value.get("account") ?? "";
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const list = usePagedList<KnownStanding>(
    (offset, signal) => {
      const wanted = STATES.find((each) => each === state);
      return api()
        .operator.standings({ pageSize: PAGE_SIZE, account: given(account), state: wanted }, { signal })
        .page(offset);
    },
    keyOf,
    [state, account],
  );
  const columns: readonly Column<KnownStanding>[] = [
    { label: "State", width: "7.5rem", cell: (row) => <StandingBadge state={row.state} /> },
    {
      label: "Owner",
      width: "minmax(8rem, 1fr)",
      cell: ({ account_id: id, account_email: email }) => <Link to={`/operator/accounts/${id}`}>{email ?? id}</Link>,
      under: ({ reason }) => reason ?? "",
    },
    { label: "Cargo", width: "minmax(6rem, 12rem)", cell: ({ cargo }) => cargo },
    { label: "In a row", width: "5rem", isNumber: true, isExtra: true, cell: ({ streak }) => formatWhole(streak) },
    {
      label: "Reason",
      width: "minmax(6rem, 1fr)",
      isExtra: true,
      cell: ({ reason }) => <span title={reason ?? ""}>{reason}</span>,
    },
    { label: "Changed", width: "6rem", isExtra: true, cell: (row) => <Ago at={row.changed_at} /> },
    {
      label: "Action",
      width: "6rem",
      cell: (row) => (
        <button
          type="button"
          class="button small"
          onClick={() => setChosen(row)}
          aria-label={`Change ${row.account_email ?? row.account_id} with ${row.cargo}`}
        >
          Change
        </button>
      ),
    },
  ];
  return (
    <>
      <PageHead
        title="Standings"
        note={
          account === ""
            ? "What audits found out about the owners of Islands, by Cargo."
            : `Standings of the account ${account}.`
        }
      >
        <Choice name="state" label="State" options={["all", ...STATES]} />
        <button
          type="button"
          class="button"
          onClick={() => setChosen({ account_id: account, cargo: "", state: "trusted" })}
        >
          Set a standing
        </button>
      </PageHead>
      <VirtualTable
        list={list}
        columns={columns}
        keyOf={keyOf}
        label="Standings of owners"
        what="the standings"
        empty={<EmptyState title="No matching standings" />}
      />
      {chosen !== null && <StandingDialog chosen={chosen} onDone={list.reload} onClose={() => setChosen(null)} />}
    </>
  );
}

const keyOf = ({ account_id: id, cargo }: KnownStanding): string => `${id}/${cargo}`;

function StandingDialog({
  chosen,
  onDone,
  onClose,
}: {
  readonly chosen: Chosen;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const form = useForm(async (values) => {
    const state = STATES.find((each) => each === values("state")) ?? chosen.state;
    const [account, cargo] = [values("account").trim(), values("cargo").trim()];
    await api().operator.setStanding(account, cargo, { state, reason: values("reason").trim() });
    onDone();
    onClose();
  });
  return (
    <Dialog title="Set a standing" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <p>
          “proven” and “trusted” pay the held earnings. “quarantined” returns them to the clients, and the owner’s
          Islands get no more jobs of the Cargo.
        </p>
        <Field label="Account" hint="Id of the owner’s account" error={form.errorOf("account")}>
          {(props) => <input {...props} name="account" defaultValue={chosen.account_id} autocomplete="off" required />}
        </Field>
        <Field label="Cargo" error={form.errorOf("cargo")}>
          {(props) => <input {...props} name="cargo" defaultValue={chosen.cargo} autocomplete="off" required />}
        </Field>
        <Field label="State" error={form.errorOf("state")}>
          {(props) => (
            <select {...props} name="state">
              {STATES.map((each) => (
                <option key={each} value={each} selected={each === chosen.state}>
                  {each}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Reason" hint="Shown to the owner" error={form.errorOf("reason")}>
          {(props) => <input {...props} name="reason" autocomplete="off" required />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Set
          </button>
        </div>
      </form>
    </Dialog>
  );
}
