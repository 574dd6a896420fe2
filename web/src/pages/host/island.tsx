import type { Island, IslandDetail } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/live.ts";
import { usePolling, useResource, type Resource } from "../../app/resource.ts";
import { Link, navigate, type PageProps } from "../../app/router.tsx";
import { useAction } from "../../components/action.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { goneIsDone } from "../../components/error-message.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { Meter } from "../../components/meter.tsx";
import { formatMegabytes, formatShare, formatWhole } from "../../components/numbers.ts";
import { Fact, PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { Ago, formatTime } from "../../components/time.tsx";
import { EngineModels } from "./engine-models.tsx";
import { IslandDays } from "./island-days.tsx";
import { IslandHistory } from "./island-history.tsx";
import { IslandWork } from "./island-work.tsx";
import { Standings } from "./standings.tsx";

/** Poll interval. Events contain neither the models of engines nor those on the disk. */
const POLL_MS = 15_000;

export function IslandPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const island = useResource((signal) => api().islands.get(id, { signal }), [id]);
  usePolling(island.reload, POLL_MS);
  const [dialog, setDialog] = useState<"rename" | "remove" | null>(null);
  useLive("island", (event) => {
    if (event.id === id && island.value !== undefined) island.set(withEvent(island.value, event));
  });
  const { value } = island;
  return (
    <>
      <PageHead title={value?.name ?? "Island"} back={{ to: "/islands", label: "My Islands" }}>
        {value !== undefined && (
          <>
            <IslandStatusBadge status={value.status} />
            <button type="button" class="button" onClick={() => setDialog("rename")}>
              Rename
            </button>
            <button type="button" class="button danger" onClick={() => setDialog("remove")}>
              Remove
            </button>
          </>
        )}
      </PageHead>
      <Loaded of={island} what="the Island">
        {(shown) => <Detail island={shown} onOffered={island.reload} />}
      </Loaded>
      {dialog === "rename" && value !== undefined && (
        <Rename island={value} resource={island} onClose={() => setDialog(null)} />
      )}
      {dialog === "remove" && value !== undefined && <Remove island={value} onClose={() => setDialog(null)} />}
    </>
  );
}

/** Updates the Island from an event, which contains today's earnings but not the days. */
function withEvent(island: IslandDetail, event: Island): IslandDetail {
  const today = island.days.at(-1);
  const days = today === undefined ? [] : [...island.days.slice(0, -1), { ...today, earned: event.earned.today }];
  return { ...island, ...event, days };
}

function Detail({ island, onOffered }: { readonly island: IslandDetail; readonly onOffered: () => void }) {
  return (
    <div class="detail">
      <div class="detail-main">
        <section class="panel" aria-labelledby="load-title">
          <h2 id="load-title">Now</h2>
          <Load island={island} />
          <IslandWork island={island} />
        </section>
        <EngineModels models={island.engine_models} onOffered={onOffered} />
        <IslandHistory island={island} />
        <Standings standings={island.standings} />
        <IslandDays days={island.days} />
        <section class="panel" aria-labelledby="models-title">
          <h2 id="models-title">On disk</h2>
          <OnDisk island={island} />
        </section>
      </div>
      <aside class="detail-side">
        <section class="panel" aria-labelledby="hardware-title">
          <h2 id="hardware-title">Machine</h2>
          <Machine island={island} />
        </section>
      </aside>
    </div>
  );
}

function OnDisk({ island: { load, cached_cargos: cargos, cached_models: models } }: { readonly island: IslandDetail }) {
  if (models.length === 0) {
    return <p class="muted">{load === null ? "Shown while the Island is connected." : "No models or images yet."}</p>;
  }
  const others = Math.max(0, models.length - cargos.length);
  return (
    <ul class="tags">
      {cargos.map((slug) => (
        <li key={slug}>
          <Link to={`/catalog/${encodeURIComponent(slug)}`}>{slug}</Link>
        </li>
      ))}
      {others > 0 && <li class="muted">{formatWhole(others)} of Cargos that are no longer in the catalog</li>}
    </ul>
  );
}

function Load({ island: { load, loaded, last_seen_at, is_live } }: { readonly island: IslandDetail }) {
  if (load === null) {
    return (
      <p class="muted">
        Not connected{is_live ? "" : " (may be out of date)"}. Last seen <Ago at={last_seen_at} />.
      </p>
    );
  }
  return (
    <>
      <div class="meters">
        <Meter
          label="Slots"
          share={load.slots === 0 ? 0 : load.slots_busy / load.slots}
          text={`${load.slots_busy} of ${load.slots}`}
        />
        {load.cpu !== null && <Meter label="CPU" share={load.cpu} text={formatShare(load.cpu)} />}
        {load.gpu !== null && <Meter label="GPU" share={load.gpu} text={formatShare(load.gpu)} />}
      </div>
      <dl class="facts wide">
        {load.free_ram_mb !== null && (
          <Fact label="Free memory">
            <span class="num">{formatMegabytes(load.free_ram_mb)}</span>
          </Fact>
        )}
        {load.free_vram_mb !== null && (
          <Fact label="Free GPU memory">
            <span class="num">{formatMegabytes(load.free_vram_mb)}</span>
          </Fact>
        )}
        {load.temperature_c !== null && (
          <Fact label="Temperature">
            <span class="num">{formatWhole(load.temperature_c)} °C</span>
          </Fact>
        )}
        <Fact label="In memory">{loaded.length === 0 ? "nothing" : loaded.join(", ")}</Fact>
      </dl>
    </>
  );
}

function Machine({ island }: { readonly island: IslandDetail }) {
  const { hardware } = island;
  const cores = hardware.physical_cores ?? hardware.logical_cores;
  return (
    <dl class="facts">
      <Fact label="Processor">
        {hardware.cpu_model ?? hardware.arch}, {cores} cores
      </Fact>
      <Fact label="Memory">
        <span class="num">{formatMegabytes(hardware.ram_mb)}</span>
      </Fact>
      {hardware.gpus.map((gpu, index) => (
        <Fact key={index} label="Graphics">
          {gpu.name}
          {gpu.vram_mb !== null && `, ${formatMegabytes(gpu.vram_mb)}`}
        </Fact>
      ))}
      <Fact label="Disk for models">
        <span class="num">{formatMegabytes(hardware.disk_budget_mb)}</span>
      </Fact>
      <Fact label="System">{hardware.os_name ?? `${hardware.platform} ${hardware.arch}`}</Fact>
      <Fact label="Agent">{island.agent_version}</Fact>
      <Fact label="Runtimes">
        {island.runtimes.map(({ type, version }) => (
          <div key={type}>
            <strong>{type}</strong> {version}
          </div>
        ))}
      </Fact>
      <Fact label="First seen">{formatTime(island.first_seen_at)}</Fact>
      <Fact label="Last seen">{formatTime(island.last_seen_at)}</Fact>
      <Fact label="Id">
        <span class="id">{island.id}</span>
      </Fact>
    </dl>
  );
}

function Rename({
  island,
  resource,
  onClose,
}: {
  readonly island: IslandDetail;
  readonly resource: Resource<IslandDetail>;
  readonly onClose: () => void;
}) {
  const form = useForm(async (values) => {
    resource.set(await api().islands.rename(island.id, values("name").trim()));
    onClose();
  });
  return (
    <Dialog title="Rename the Island" onClose={onClose}>
      <form onSubmit={form.submit} noValidate>
        <Field label="Name" hint="Leave empty to use the machine’s name" error={form.errorOf("name")}>
          {(props) => <input {...props} name="name" defaultValue={island.name} autocomplete="off" />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button class="button primary" disabled={form.isBusy}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Remove({ island, onClose }: { readonly island: IslandDetail; readonly onClose: () => void }) {
  const remove = useAction(async () => {
    await goneIsDone(api().islands.remove(island.id));
    navigate("/islands");
  });
  return (
    <ConfirmDialog title={`Remove “${island.name}”?`} confirm="Remove" action={remove} onClose={onClose}>
      <p>Its jobs go to other Islands. You keep what it earned. To rejoin, it needs a new pairing code or token.</p>
    </ConfirmDialog>
  );
}
