import type { Cargo } from "@atoll/client";
import { api } from "../../../app/api.ts";
import { useResource } from "../../../app/resource.ts";
import { navigate, query } from "../../../app/router.tsx";
import { readSetting, writeSetting } from "../../../app/storage.ts";
import { CargoRunner } from "../../../components/cargo-runner.tsx";
import { Field } from "../../../components/field.tsx";
import { PageHead } from "../../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { loadPlayable } from "./playable.ts";
import { ChatPlayground } from "./chat-playground.tsx";

/** Tries any Cargo: chat models as a chat, others with a form. */
export function PlaygroundPage() {
  const cargos = useResource((signal) => loadPlayable(signal), []);
  return (
    <>
      <PageHead title="Playground" />
      <Loaded of={cargos} what="the models">
        {(list) =>
          list.length === 0 ? (
            <EmptyState title="The catalog is empty">
              <p>The operator of the network has not enabled any Cargo.</p>
            </EmptyState>
          ) : (
            <Chosen cargos={list} />
          )
        }
      </Loaded>
    </>
  );
}

function Chosen({ cargos }: { readonly cargos: readonly Cargo[] }) {
  const asked = query.value.get("cargo") ?? readSetting("playground");
  const chats = cargos.filter(({ chat }) => chat);
  const cargo = cargos.find(({ slug }) => slug === asked) ?? chats[0] ?? cargos[0];
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
              <Group label="Chat models" cargos={chats} />
              <Group label="Other Cargos" cargos={cargos.filter(({ chat }) => !chat)} />
            </select>
          )}
        </Field>
      </div>
      {cargo.chat ? (
        <ChatPlayground key={cargo.slug} model={cargo.slug} />
      ) : (
        <Runner key={cargo.slug} slug={cargo.slug} />
      )}
    </>
  );
}

function Group({ label, cargos }: { readonly label: string; readonly cargos: readonly Cargo[] }) {
  if (cargos.length === 0) return null;
  return (
    <optgroup label={label}>
      {cargos.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name}
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
