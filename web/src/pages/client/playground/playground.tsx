import type { Cargo, Model } from "@atoll/client";
import { useState } from "preact/hooks";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import { navigate, query } from "../../../app/router.tsx";
import { readSetting, writeSetting } from "../../../app/storage.ts";
import { CargoRunner } from "../../../components/cargo-runner.tsx";
import { Field } from "../../../components/field.tsx";
import { PageHead } from "../../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { describeAvailability, mostAvailable, type AvailabilityBySlug } from "./availability.ts";
import { readModels } from "./models.ts";
import { readAvailability, useAvailability } from "./use-availability.ts";
import { loadPlayable } from "./playable.ts";
import { ChatPlayground } from "./chat-playground.tsx";

/** Runs any Cargo: chat models in a chat, other Cargos with a form. */
export function PlaygroundPage() {
  const cargos = useResource(async (signal) => {
    // The playground works without availability and models.
    const [list, available, models] = await Promise.all([
      loadPlayable(signal),
      readAvailability(signal).catch(() => null),
      readModels(signal).catch(() => null),
    ]);
    return { list, available, models };
  }, []);
  return (
    <>
      <PageHead title="Playground" />
      <Loaded of={cargos} what="the models">
        {({ list, available, models }) =>
          list.length === 0 ? (
            <EmptyState title="The catalog is empty">
              <p>The operator of the network has not enabled any Cargo.</p>
            </EmptyState>
          ) : (
            <Chosen cargos={list} available={available} models={models} />
          )
        }
      </Loaded>
    </>
  );
}

function Chosen({
  cargos,
  available,
  models,
}: {
  readonly cargos: readonly Cargo[];
  readonly available: AvailabilityBySlug;
  readonly models: ReadonlyMap<string, Model> | null;
}) {
  const requested = query.value.get("cargo") ?? readSetting("playground");
  const known = useAvailability() ?? available;
  const chats = cargos.filter(({ chat }) => chat);
  // Chosen once, so that the model does not change while a prompt is typed.
  const [first] = useState(() => {
    const usual = chats.find(({ slug }) => models?.get(slug)?.is_default === true && available?.has(slug) !== false);
    return usual ?? mostAvailable(chats, available) ?? mostAvailable(cargos, available);
  });
  const cargo =
    cargos.find(({ slug }) => slug === requested) ?? cargos.find(({ slug }) => slug === first?.slug) ?? cargos[0];
  if (cargo === undefined) return null;
  const choose = (slug: string): void => {
    writeSetting("playground", slug);
    navigate(`/playground?cargo=${encodeURIComponent(slug)}`, { replace: true });
  };
  return (
    <>
      <div class="model-choice">
        <Field label="Model" hint={cargo.description}>
          {(props) => (
            <select {...props} value={cargo.slug} onChange={(event) => choose(event.currentTarget.value)}>
              <Group label="Chat models" cargos={chats} known={known} />
              <Group label="Other Cargos" cargos={cargos.filter(({ chat }) => !chat)} known={known} />
            </select>
          )}
        </Field>
      </div>
      {cargo.chat ? <ChatPlayground key={cargo.slug} cargo={cargo} /> : <Runner key={cargo.slug} slug={cargo.slug} />}
    </>
  );
}

function Group({
  label,
  cargos,
  known,
}: {
  readonly label: string;
  readonly cargos: readonly Cargo[];
  readonly known: AvailabilityBySlug;
}) {
  if (cargos.length === 0) return null;
  const entries = cargos.map(({ slug, name }) => ({ slug, name, state: describeAvailability(known, slug) }));
  // Cargos that can run come first.
  const runnable = entries.filter(({ slug }) => known?.has(slug) !== false);
  const others = entries.filter(({ slug }) => known?.has(slug) === false);
  return (
    <optgroup label={label}>
      {[...runnable, ...others].map(({ slug, name, state }) => (
        <option key={slug} value={slug}>
          {state === null ? name : `${name} (${state.text})`}
        </option>
      ))}
    </optgroup>
  );
}

function Runner({ slug }: { readonly slug: string }) {
  const cargo = useResource((signal) => api().cargos.get(slug, { signal }), [slug]);
  return (
    <Loaded of={cargo} what="the Cargo">
      {(value) => <CargoRunner cargo={value} />}
    </Loaded>
  );
}
