import type { ApiKey } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useLive } from "../../../app/live.ts";
import { useResource } from "../../../app/resource.ts";
import { useAction } from "../../../components/action.tsx";
import { ConfirmDialog } from "../../../components/dialog.tsx";
import { goneIsDone } from "../../../components/error-message.ts";
import { formatCredits } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { Ago, formatTime } from "../../../components/time.tsx";
import { NewKey } from "./new-key.tsx";

export function KeysPage() {
  const keys = useResource((signal) => api().apiKeys.list({ signal }), []);
  useLive("account", keys.reload);
  const [isMaking, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  return (
    <>
      <PageHead title="API keys" note="Keys for programs. A key is shown once, when it is created.">
        <button type="button" class="button primary" onClick={() => setMaking(true)}>
          New key
        </button>
      </PageHead>
      <Loaded of={keys} what="the keys">
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="No API keys yet">
              <p>Programs send a key with each request. Create one for each program.</p>
            </EmptyState>
          ) : (
            <section class="panel">
              <KeyTable keys={list} onRevoke={setRevoking} />
            </section>
          )
        }
      </Loaded>
      {isMaking && <NewKey onMade={keys.reload} onClose={() => setMaking(false)} />}
      {revoking !== null && (
        <Revoke
          revoked={revoking}
          onDone={() => {
            setRevoking(null);
            keys.reload();
          }}
          onClose={() => setRevoking(null)}
        />
      )}
    </>
  );
}

function KeyTable({ keys, onRevoke }: { readonly keys: readonly ApiKey[]; readonly onRevoke: (key: ApiKey) => void }) {
  return (
    <SimpleTable
      rows={keys}
      label="API keys"
      keyOf={({ id }) => id}
      columns={[
        { label: "Name", cell: ({ name }) => name },
        { label: "Starts with", cell: ({ prefix }) => <code>{prefix}…</code> },
        { label: "Access", cell: ({ scopes }) => scopes.join(", "), isExtra: true },
        { label: "Limits", cell: (key) => <Limits of={key} />, isExtra: true },
        { label: "Created", cell: (key) => <Ago at={key.created_at} />, isExtra: true },
        {
          label: "Last used",
          cell: (key) => (key.last_used_at === null ? <span class="muted">never</span> : <Ago at={key.last_used_at} />),
        },
        {
          label: "",
          cell: (key) => (
            <button type="button" class="button small" onClick={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
              Revoke
            </button>
          ),
        },
      ]}
    />
  );
}

function Limits({ of: { expires_at, cargos, credits_per_month, credits_this_month } }: { readonly of: ApiKey }) {
  const parts = [
    ...(credits_per_month === null
      ? []
      : [`${formatCredits(credits_this_month ?? 0)} of ${formatCredits(credits_per_month)} credits this month`]),
    ...(cargos === null ? [] : [`only ${cargos.join(", ")}`]),
    ...(expires_at === null ? [] : [`until ${formatTime(expires_at)}`]),
  ];
  return parts.length === 0 ? <span class="muted">none</span> : <span class="wrap">{parts.join("; ")}</span>;
}

function Revoke({
  revoked,
  onDone,
  onClose,
}: {
  readonly revoked: ApiKey;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const revoke = useAction(async () => {
    await goneIsDone(api().apiKeys.revoke(revoked.id));
    onDone();
  });
  return (
    <ConfirmDialog title={`Revoke “${revoked.name}”?`} confirm="Revoke" action={revoke} onClose={onClose}>
      <p>Requests with this key are rejected at once.</p>
    </ConfirmDialog>
  );
}
