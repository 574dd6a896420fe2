import type { IslandDetail } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../app/api.ts";
import { useLive } from "../../app/live.ts";
import { useResource, type Resource } from "../../app/resource.ts";
import { navigate, type PageProps } from "../../app/router.tsx";
import { ConfirmDialog, Dialog } from "../../components/dialog.tsx";
import { messageOf } from "../../components/error-message.ts";
import { Field } from "../../components/field.tsx";
import { FormError, useForm } from "../../components/form.tsx";
import { Meter } from "../../components/meter.tsx";
import { formatMegabytes, formatShare } from "../../components/numbers.ts";
import { Fact, PageHead } from "../../components/page-head.tsx";
import { Loaded } from "../../components/states.tsx";
import { IslandStatusBadge } from "../../components/status.tsx";
import { Ago, formatTime } from "../../components/time.tsx";
import { IslandHistory } from "./island-history.tsx";

export function IslandPage({ params }: PageProps) {
  const id = params["id"] ?? "";
  const island = useResource((signal) => api().islands.get(id, { signal }), [id]);
  const [dialog, setDialog] = useState<"rename" | "remove" | null>(null);
  useLive("island", (event) => {
    if (event.id === id && island.value !== undefined) island.set({ ...island.value, ...event });
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
              Send away
            </button>
          </>
        )}
      </PageHead>
      <Loaded of={island} what="the Island">
        {(shown) => <Detail island={shown} />}
      </Loaded>
      {dialog === "rename" && value !== undefined && (
        <Rename island={value} resource={island} onClose={() => setDialog(null)} />
      )}
      {dialog === "remove" && value !== undefined && <Remove island={value} onClose={() => setDialog(null)} />}
    </>
  );
}

function Detail({ island }: { readonly island: IslandDetail }) {
  return (
    <div class="detail">
      <div class="detail-main">
        <IslandHistory island={island} />
        <section class="panel" aria-labelledby="load-title">
          <h2 id="load-title">Now</h2>
          <Load island={island} />
        </section>
        <section class="panel" aria-labelledby="models-title">
          <h2 id="models-title">Models on its disk</h2>
          {island.cached_models.length === 0 ? (
            <p class="muted">{island.load === null ? "Known while it is connected." : "None yet."}</p>
          ) : (
            <ul class="plain">
              {island.cached_models.map((model) => (
                <li key={model} class="id">
                  {model}
                </li>
              ))}
            </ul>
          )}
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

function Load({ island: { load, loaded, last_seen_at, is_live } }: { readonly island: IslandDetail }) {
  if (load === null) {
    return (
      <p class="muted">
        Not connected{is_live ? "" : ", as far as is known"}. Last seen <Ago at={last_seen_at} />.
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
      </div>
      <dl class="facts wide">
        {load.free_ram_mb !== null && (
          <Fact label="Free memory">
            <span class="num">{formatMegabytes(load.free_ram_mb)}</span>
          </Fact>
        )}
        {load.free_vram_mb !== null && (
          <Fact label="Free graphics memory">
            <span class="num">{formatMegabytes(load.free_vram_mb)}</span>
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
      <Fact label="Runtimes">{island.runtimes.map(({ type, version }) => `${type} ${version}`).join(", ")}</Fact>
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
        <Field label="Name" hint="Empty: the name of the machine" error={form.errorOf("name")}>
          {(props) => <input {...props} name="name" defaultValue={island.name} autocomplete="off" />}
        </Field>
        <FormError form={form} />
        <div class="actions">
          <button type="button" class="button" onClick={onClose}>
            Close
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
  const [error, setError] = useState<string | null>(null);
  const remove = (): void => {
    api()
      .islands.remove(island.id)
      .then(
        () => navigate("/islands"),
        (failure: unknown) => setError(messageOf(failure)),
      );
  };
  return (
    <ConfirmDialog title={`Send “${island.name}” away?`} confirm="Send away" onConfirm={remove} onClose={onClose}>
      <p>Its jobs go to other Islands. It comes back only with a new pairing code or token.</p>
      {error !== null && (
        <p class="form-error" role="alert">
          {error}
        </p>
      )}
    </ConfirmDialog>
  );
}
