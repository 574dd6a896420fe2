import type { Island, PairingCode } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { BASE_URL } from "../../app/base.ts";
import { networkNow } from "../../app/clock.ts";
import { useLive } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { Link } from "../../app/router.tsx";
import { CopyBox } from "../../components/copy-button.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { Field } from "../../components/field.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { IslandTokens } from "./island-tokens.tsx";
import { commandsFor, guessSystem, SYSTEMS, type System } from "./join-commands.ts";

export function AddIslandPage() {
  const [code, setCode] = useState<PairingCode | null>(null);
  const form = useForm(async (values) => {
    const name = values("name").trim();
    setCode(await api().islandTokens.createPairingCode(name === "" ? {} : { name }));
  });
  return (
    <>
      <PageHead
        title="Add an Island"
        back={{ to: "/islands", label: "My Islands" }}
        note="A machine of yours that runs jobs and earns credits."
      />
      <div class="detail">
        <div class="detail-main">
          <section class="panel" aria-labelledby="code-title">
            <h2 id="code-title">{code === null ? "1. Make a pairing code" : "1. Your pairing code"}</h2>
            {code === null ? (
              <form onSubmit={form.submit} noValidate>
                <Field label="Name of the machine" isOptional error={form.errorOf("name")}>
                  {(props) => <input {...props} name="name" autocomplete="off" placeholder="garage" />}
                </Field>
                <FormError form={form} />
                <div class="actions">
                  <button class="button primary" disabled={form.isBusy}>
                    Make a code
                  </button>
                </div>
              </form>
            ) : (
              <Code code={code} onNew={() => setCode(null)} />
            )}
          </section>
          {code !== null && <Join code={code.code} />}
          {code !== null && <Arrivals key={code.code} />}
        </div>
        <aside class="detail-side">
          <IslandTokens />
        </aside>
      </div>
    </>
  );
}

function Code({ code, onNew }: { readonly code: PairingCode; readonly onNew: () => void }) {
  const [leftS, setLeftS] = useState(() => secondsUntil(code.expires_at));
  useEffect(() => {
    const timer = setInterval(() => setLeftS(secondsUntil(code.expires_at)), 1_000);
    return () => clearInterval(timer);
  }, [code]);
  const isOver = leftS <= 0;
  return (
    <>
      <p class={isOver ? "pairing-code over" : "pairing-code"}>
        <code>{code.code}</code>
      </p>
      <p role="status" class="muted">
        {isOver ? "The code has expired." : "Works once, and for "}
        {!isOver && (
          <span class="num" aria-hidden="true">
            {Math.floor(leftS / 60)}:{String(leftS % 60).padStart(2, "0")}
          </span>
        )}
        {!isOver && <span class="hidden">ten minutes after it was made</span>}
      </p>
      <div class="actions">
        <button type="button" class={isOver ? "button primary" : "button"} onClick={onNew}>
          New code
        </button>
      </div>
    </>
  );
}

function Join({ code }: { readonly code: string }) {
  const [system, setSystem] = useState<System>(guessSystem);
  const address = BASE_URL.href.replace(/\/$/, "");
  return (
    <section class="panel" aria-labelledby="join-title">
      <h2 id="join-title">2. On that machine</h2>
      <div class="segmented" role="group" aria-label="System of the machine">
        {SYSTEMS.map(({ id, label }) => (
          <button key={id} type="button" aria-pressed={id === system} onClick={() => setSystem(id)}>
            {label}
          </button>
        ))}
      </div>
      {commandsFor(system, address, code).map(({ what, command }) => (
        <div key={command} class="step">
          <p>{what}</p>
          <CopyBox text={command} label={what} />
        </div>
      ))}
      <p class="hint">
        If npm does not find the package, ask the operator of this network for its file, and install that in its place.
      </p>
      {BASE_URL.protocol === "http:" && (
        <p class="hint">This address is not encrypted. Use it only inside a network that you trust.</p>
      )}
    </section>
  );
}

/** Islands that come up while this is shown. */
function Arrivals() {
  const [arrived, setArrived] = useState<readonly Island[]>([]);
  const present = useResource(async (signal) => {
    const { data } = await api().islands.list({ pageSize: 100 }, { signal }).page();
    return new Set(data.filter(({ status }) => status !== "offline").map(({ id }) => id));
  }, []);
  useLive("island", (island) => {
    if (island.status === "offline" || present.value?.has(island.id) !== false) return;
    setArrived((known) => [...known.filter(({ id }) => id !== island.id), island]);
  });
  return (
    <section class="panel" aria-labelledby="arrivals-title">
      <h2 id="arrivals-title">3. It appears here</h2>
      <div role="status">
        {arrived.length === 0 ? (
          <p class="muted">
            <span class="spinner" aria-hidden="true" /> Waiting for the machine
          </p>
        ) : (
          <ul class="plain">
            {arrived.map((island) => (
              <li key={island.id}>
                <IslandStatusBadge status={island.status} /> <Link to={`/islands/${island.id}`}>{island.name}</Link> has
                joined.
              </li>
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function secondsUntil(at: string): number {
  return Math.max(0, Math.round((Date.parse(at) - networkNow()) / 1_000));
}
