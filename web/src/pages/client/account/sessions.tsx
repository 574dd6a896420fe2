import { endSession, readSessions, type AccountSession } from "../../../app/account-api.ts";
import { useLive } from "../../../app/live.ts";
import { useResource } from "../../../app/resource.ts";
import { ActionError, useAction } from "../../../components/action.tsx";
import { goneIsDone } from "../../../components/error-message.ts";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { Loaded } from "../../../components/states.tsx";
import { Ago, formatTime } from "../../../components/time.tsx";

export function Sessions() {
  const sessions = useResource(readSessions, []);
  useLive("account", sessions.reload);
  const end = useAction(async ({ id }: AccountSession) => {
    await goneIsDone(endSession(id));
    sessions.reload();
  });
  return (
    <section class="panel" aria-labelledby="sessions-title">
      <h2 id="sessions-title">Sessions</h2>
      <ActionError action={end} />
      <Loaded of={sessions} what="the sessions">
        {(list) => (
          <SimpleTable
            rows={list}
            label="Sessions"
            keyOf={({ id }) => id}
            columns={[
              { label: "Started", cell: (session) => formatTime(session.created_at) },
              {
                label: "Last used",
                cell: ({ current, last_used_at: at }) =>
                  current ? "this session" : at === null ? <span class="muted">never</span> : <Ago at={at} />,
              },
              { label: "Expires", isExtra: true, cell: (session) => formatTime(session.expires_at) },
              {
                label: "",
                cell: (session) =>
                  !session.current && (
                    <button
                      type="button"
                      class="button small"
                      aria-label={`End the session started ${formatTime(session.created_at)}`}
                      disabled={end.isBusy}
                      onClick={() => end.run(session)}
                    >
                      End
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </section>
  );
}
