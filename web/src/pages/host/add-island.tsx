import type { Island, PairingCode } from "@atoll/client";
import { useEffect, useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { networkNow } from "../../app/clock.ts";
import { useLive } from "../../app/live.ts";
import { useResource } from "../../app/resource.ts";
import { Link } from "../../app/router.tsx";
import { isOperator } from "../../app/session.ts";
import { CopyBox } from "../../components/copy-button.tsx";
import { addressFor, useDownloads } from "../../components/downloads.ts";
import { FormError, useForm } from "../../components/form.tsx";
import { Field } from "../../components/field.tsx";
import { PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { IslandTokens } from "./island-tokens.tsx";
import { commandsFor, guessSystem, isLoopback, PATH_EXPORT, systemsFor, type System } from "./join-commands.ts";

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
        note="Connect a machine that runs jobs and earns you credits."
      />
      <div class="detail">
        <div class="detail-main">
          <section class="panel" aria-labelledby="code-title">
            <h2 id="code-title">{code === null ? "1. Create a pairing code" : "1. Your pairing code"}</h2>
            {code === null ? (
              <form onSubmit={form.submit} noValidate>
                <Field label="Name of the machine" isOptional error={form.errorOf("name")}>
                  {(props) => <input {...props} name="name" autocomplete="off" placeholder="garage" />}
                </Field>
                <FormError form={form} />
                <div class="actions">
                  <button class="button primary" disabled={form.isBusy}>
                    Create code
                  </button>
                </div>
              </form>
            ) : (
              <Code code={code} onNew={() => setCode(null)} />
            )}
          </section>
          {code !== null && <Join />}
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
        {isOver ? "This code has expired. Create a new one." : "Can be used once. Expires in "}
        {!isOver && (
          <span class="num" aria-hidden="true">
            {Math.floor(leftS / 60)}:{String(leftS % 60).padStart(2, "0")}
          </span>
        )}
        {!isOver && <span class="hidden">ten minutes</span>}
      </p>
      <div class="actions">
        <button type="button" class={isOver ? "button primary" : "button"} onClick={onNew}>
          New code
        </button>
      </div>
    </>
  );
}

function Join() {
  const downloads = useDownloads();
  return (
    <section class="panel" aria-labelledby="join-title">
      <h2 id="join-title">2. On that machine</h2>
      <Loaded of={downloads} what="the packages">
        {(served) => <JoinCommands systems={systemsFor(served.files)} address={addressFor(served)} />}
      </Loaded>
    </section>
  );
}

function JoinCommands({ systems, address }: { readonly systems: readonly System[]; readonly address: string }) {
  const [chosen, choose] = useState(guessSystem);
  const system = systems.find(({ id }) => id === chosen);
  const file = system?.file;
  return (
    <>
      <div class="segmented" role="group" aria-label="Operating system">
        {systems.map(({ id, label }) => (
          <button key={id} type="button" aria-pressed={id === chosen} onClick={() => choose(id)}>
            {label}
          </button>
        ))}
      </div>
      {isLoopback(address) && (
        <p class="banner warning">
          Other machines cannot reach <code>{address}</code>. The operator must set <code>public_url</code>, or{" "}
          <code>host</code> to listen on the network, in the coordinator’s configuration.
        </p>
      )}
      {system !== undefined && file !== undefined ? (
        <>
          {commandsFor({ ...system, file }, address).map(({ what, command }) => (
            <div key={command} class="step">
              <p>{what}</p>
              <CopyBox text={command} label={what} />
            </div>
          ))}
          {file.format === "npm" && chosen !== "windows" && (
            <p class="hint">
              To find the command in new terminals, add <code>{PATH_EXPORT}</code> to <code>~/.profile</code> (on macOS:{" "}
              <code>~/.zprofile</code>).
            </p>
          )}
        </>
      ) : (
        <NoPackage address={address} />
      )}
      {address.startsWith("http:") && !isLoopback(address) && (
        <p class="hint">Connections to this address are not encrypted. Use it only in a network that you trust.</p>
      )}
    </>
  );
}

function NoPackage({ address }: { readonly address: string }) {
  return (
    <>
      <p>
        The agent’s package is neither on this coordinator nor in a package registry. Ask the operator of the network
        for the file <code>atoll-island-….tgz</code>, and install that file with npm. Then run{" "}
        <code>island join {address}</code>.
      </p>
      {isOperator.value && (
        <p class="hint">
          As an operator, run <code>npm run packages</code> in the repository to build the file. Copy it to the folder{" "}
          <code>downloads</code> in the coordinator’s data directory, and reload this page.
        </p>
      )}
    </>
  );
}

/** Lists Islands that connect while this page is shown. */
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
      <h2 id="arrivals-title">3. Wait for it here</h2>
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
