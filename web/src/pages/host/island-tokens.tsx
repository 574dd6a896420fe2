import type { IslandToken } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { ActionError, useAction } from "../../components/action.tsx";
import { ConfirmDialog } from "../../components/dialog.tsx";
import { goneIsDone } from "../../components/error-message.ts";
import { SecretDialog } from "../../components/secret-dialog.tsx";
import { Loaded } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

export function IslandTokens() {
  const tokens = useResource((signal) => api().islandTokens.list({ signal }), []);
  useLive("account", tokens.reload);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<IslandToken | null>(null);
  const make = useAction(async () => {
    setSecret((await api().islandTokens.create()).token);
    tokens.reload();
  });
  return (
    <section class="panel" aria-labelledby="tokens-title">
      <div class="panel-head">
        <h2 id="tokens-title">Island tokens</h2>
        <button type="button" class="button small" disabled={make.isBusy} onClick={() => make.run()}>
          New token
        </button>
      </div>
      <p class="hint">For machines that are set up by scripts. Joining with a pairing code also creates a token.</p>
      <ActionError action={make} />
      <Loaded of={tokens} what="the tokens">
        {(list) =>
          list.length === 0 ? (
            <p class="muted">None yet.</p>
          ) : (
            <ul class="plain rows">
              {list.map((token) => (
                <li key={token.id}>
                  <span class="ellipsis">
                    {token.name}{" "}
                    <span class="muted">
                      {token.last_used_at === null ? (
                        "never used"
                      ) : (
                        <>
                          used <Ago at={token.last_used_at} />
                        </>
                      )}
                    </span>
                  </span>
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Revoke ${token.name}`}
                    onClick={() => setRevoking(token)}
                  >
                    Revoke
                  </button>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {secret !== null && (
        <SecretDialog
          title="Your new Island token"
          secret={secret}
          label="Island token"
          onClose={() => setSecret(null)}
        />
      )}
      {revoking !== null && (
        <Revoke
          token={revoking}
          onDone={() => {
            setRevoking(null);
            tokens.reload();
          }}
          onClose={() => setRevoking(null)}
        />
      )}
    </section>
  );
}

function Revoke({
  token,
  onDone,
  onClose,
}: {
  readonly token: IslandToken;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const revoke = useAction(async () => {
    await goneIsDone(api().islandTokens.revoke(token.id));
    onDone();
  });
  return (
    <ConfirmDialog title={`Revoke “${token.name}”?`} confirm="Revoke" action={revoke} onClose={onClose}>
      <p>Islands that joined with this token are disconnected, and their jobs go to other Islands.</p>
    </ConfirmDialog>
  );
}
