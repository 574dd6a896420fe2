import type { IslandToken } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { CopyBox } from "../../components/copy-button.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { messageOf } from "../../components/error-message.ts";
import { Loaded } from "../../components/states.tsx";
import { Ago } from "../../components/time.tsx";

/** The tokens that Islands joined with, and a new one for scripts. */
export function IslandTokens() {
  const tokens = useResource((signal) => api().islandTokens.list({ signal }), []);
  useLive("account", tokens.reload);
  const [secret, setSecret] = useState<string | null>(null);
  const [revoking, setRevoking] = useState<IslandToken | null>(null);
  const [error, setError] = useState<string | null>(null);
  const fail = (failure: unknown): void => setError(messageOf(failure));
  const make = (): void => {
    setError(null);
    api()
      .islandTokens.create()
      .then(({ token }) => {
        setSecret(token);
        tokens.reload();
      }, fail);
  };
  const revoke = ({ id }: IslandToken): void => {
    api()
      .islandTokens.revoke(id)
      .then(tokens.reload, fail)
      .finally(() => setRevoking(null));
  };
  return (
    <section class="panel" aria-labelledby="tokens-title">
      <div class="panel-head">
        <h2 id="tokens-title">Island tokens</h2>
        <button type="button" class="button small" onClick={make}>
          New token
        </button>
      </div>
      <p class="hint">For machines that are set up by scripts. A pairing code becomes such a token.</p>
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
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
        <Dialog title="Your new Island token" onClose={() => setSecret(null)}>
          <p>Copy it now. It is not shown again.</p>
          <CopyBox text={secret} label="Island token" />
          <div class="actions">
            <button type="button" class="button primary" onClick={() => setSecret(null)}>
              Done
            </button>
          </div>
        </Dialog>
      )}
      {revoking !== null && (
        <ConfirmDialog
          title={`Revoke “${revoking.name}”?`}
          confirm="Revoke"
          onConfirm={() => revoke(revoking)}
          onClose={() => setRevoking(null)}
        >
          <p>The Islands that joined with it are sent away, and their jobs go to others.</p>
        </ConfirmDialog>
      )}
    </section>
  );
}
