import type { AccountLimits, KnownAccountDetail } from "@atoll/client";
import { api } from "../../app/api.ts";
import { useState } from "preact/hooks";
import { useResource, type Resource } from "../../app/resource.ts";
import { Link, type PageProps } from "../../app/router.tsx";
import { FieldFailure } from "../../components/field-failure.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { formatBalance, formatCredits, formatWhole } from "../../components/numbers.ts";
import { Fact, PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { formatTime } from "../../components/time.tsx";
import { AccountState } from "./accounts.tsx";

import { SuspendDialog } from "./suspend-dialog.tsx";

const LIMITS: readonly (readonly [keyof AccountLimits, string])[] = [
  ["requests_per_minute", "Requests per minute"],
  ["concurrent_jobs", "Unfinished jobs"],
  ["concurrent_streams", "Open streams"],
  ["share", "Fair-share weight"],
];

export function KnownAccountPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const account = useResource((signal) => api().operator.accounts.get(id, { signal }), [id]);
  const [isSuspending, setSuspending] = useState(false);
  const { value } = account;
  return (
    <>
      <PageHead title={value?.email ?? "Account"} back={{ to: "/operator/accounts", label: "Accounts" }}>
        {value !== undefined && (
          <>
            <AccountState account={value} />
            <button type="button" class="button danger" onClick={() => setSuspending(true)}>
              {value.suspended === null ? "Suspend" : "Reinstate"}
            </button>
          </>
        )}
      </PageHead>
      <Loaded of={account} what="the account">
        {(shown) => (
          <div class="columns">
            <section class="panel" aria-labelledby="facts-title">
              <h2 id="facts-title">Details</h2>
              <Facts account={shown} />
            </section>
            <Grant account={shown} resource={account} />
            <Limits account={shown} resource={account} />
          </div>
        )}
      </Loaded>
      {isSuspending && value !== undefined && (
        <SuspendDialog
          what={value.email}
          isSuspended={value.suspended !== null}
          consequence="Its keys, sessions and Island tokens are rejected, its unfinished jobs are cancelled, and its Islands are disconnected."
          act={(reason) =>
            value.suspended === null
              ? api().operator.accounts.suspend(id, reason)
              : api().operator.accounts.reinstate(id)
          }
          onDone={account.reload}
          onClose={() => setSuspending(false)}
        />
      )}
    </>
  );
}

function Facts({ account }: { readonly account: KnownAccountDetail }) {
  return (
    <dl class="facts">
      <Fact label="Credits">
        <span class="num">{formatBalance(account.credits)}</span>
      </Fact>
      <Fact label="Set aside">
        <span class="num">{formatBalance(account.held)}</span>
      </Fact>
      <Fact label="Unfinished jobs">
        <Link to={`/operator/jobs?account=${account.id}`}>{formatWhole(account.unfinished_jobs)}</Link>
      </Fact>
      <Fact label="Islands">
        <Link to={`/operator/islands?account=${account.id}`}>{formatWhole(account.islands)}</Link>
      </Fact>
      <Fact label="Role">{account.role}</Fact>
      {account.suspended !== null && (
        <Fact label="Suspended">
          {formatTime(account.suspended.since)}: {account.suspended.reason}
        </Fact>
      )}
      <Fact label="Opened">{formatTime(account.created_at)}</Fact>
      <Fact label="Id">
        <span class="id">{account.id}</span>
      </Fact>
    </dl>
  );
}

interface Part {
  readonly account: KnownAccountDetail;
  readonly resource: Resource<KnownAccountDetail>;
}

function Grant({ account, resource }: Part) {
  const [given, setGiven] = useState<number | null>(null);
  const [grants, setGrants] = useState(0);
  const form = useForm(async (values) => {
    const credits = Number(values("credits"));
    const note = values("note").trim();
    if (values("credits").trim() === "" || !Number.isFinite(credits) || credits === 0)
      throw new FieldFailure("credits", "Enter a number such as 50, or -50 to take credits back");
    await api().operator.accounts.grant(account.id, credits, note === "" ? {} : { note });
    setGiven(credits);
    // Clear the field, so that the next Enter does not grant the credits again.
    setGrants((count) => count + 1);
    resource.reload();
  });
  return (
    <form class="panel" onSubmit={form.submit} noValidate>
      <h2>Grant or take back credits</h2>
      <Field label="Credits" hint="A negative number takes credits back." error={form.errorOf("credits")}>
        {(props) => <input key={grants} {...props} name="credits" autocomplete="off" />}
      </Field>
      <Field
        label="Note"
        hint="Shown in the account’s ledger. Required to take credits back."
        error={form.errorOf("note")}
      >
        {(props) => <input key={grants} {...props} name="note" maxLength={200} autocomplete="off" />}
      </Field>
      <FormError form={form} />
      <div class="actions">
        <span role="status">
          {given !== null && `${given > 0 ? "Gave" : "Took back"} ${formatCredits(Math.abs(given))}.`}
        </span>
        <button class="button" disabled={form.isBusy}>
          Change credits
        </button>
      </div>
    </form>
  );
}

function Limits({ account, resource }: Part) {
  const form = useForm(async (values) => {
    const limits = LIMITS.map(([name, label]) => {
      const typed = values(name).trim();
      if (typed !== "" && !/^\d+$/.test(typed)) throw new FieldFailure(name, `${label}: enter a whole number`);
      return [name, typed === "" ? null : Number(typed)] as const;
    });
    await api().operator.accounts.setLimits(account.id, Object.fromEntries(limits));
    resource.reload();
  });
  return (
    <form class="panel" onSubmit={form.submit} noValidate>
      <h2>Limits</h2>
      <div class="field-grid">
        {LIMITS.map(([name, label]) => (
          <Field key={name} label={label} error={form.errorOf(name)}>
            {(props) => (
              <input
                {...props}
                name={name}
                inputMode="numeric"
                autocomplete="off"
                defaultValue={String(account.limits[name])}
              />
            )}
          </Field>
        ))}
      </div>
      <p class="hint">An empty field restores the default.</p>
      <FormError form={form} />
      <div class="actions">
        <button class="button" disabled={form.isBusy}>
          Change limits
        </button>
      </div>
    </form>
  );
}
