import type { Cargo, Model } from "@atoll/client";
import { useResource } from "../../../app/resource.ts";
import { Link, navigate, query } from "../../../app/router.tsx";
import { DeclaredBadge, ModelFacts } from "../../../components/model-facts.tsx";
import { formatCredits, formatDuration, formatRate, formatWhole } from "../../../components/numbers.ts";
import { describeTokenRates } from "../../../components/price.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { SimpleTable } from "../../../components/simple-table.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { Badge } from "../../../components/status.tsx";
import { describeAvailability, type AvailabilityBySlug } from "../playground/availability.ts";
import { readModels } from "../playground/models.ts";
import { useAvailability } from "../playground/use-availability.ts";
import { loadPlayable } from "../playground/playable.ts";

const CATEGORIES: readonly (readonly [Cargo["category"], string])[] = [
  ["llm", "Chat"],
  ["image", "Images"],
  ["audio", "Audio"],
  ["vision", "Vision"],
  ["text", "Text"],
  ["utility", "Utilities"],
];

export function CatalogPage() {
  const cargos = useResource(loadPlayable, []);
  const known = useAvailability();
  const models = useResource(readModels, []);
  const category = query.value.get("category") ?? "";
  const search = query.value.get("q") ?? "";
  const filter = (next: { category?: string; q?: string }): void => {
    const values = Object.entries({ category, q: search, ...next }).filter(([, value]) => value !== "");
    const text = new URLSearchParams(values).toString();
    navigate(`/catalog${text === "" ? "" : `?${text}`}`, { replace: true });
  };
  return (
    <>
      <PageHead title="Catalog" note="The workloads (Cargos) that the network can run.">
        <label class="hidden" for="search">
          Search the catalog
        </label>
        <input
          id="search"
          type="search"
          placeholder="Search"
          value={search}
          onInput={(event) => filter({ q: event.currentTarget.value })}
        />
      </PageHead>
      <div class="segmented" role="group" aria-label="Category">
        <button type="button" aria-pressed={category === ""} onClick={() => filter({ category: "" })}>
          All
        </button>
        {CATEGORIES.map(([id, label]) => (
          <button key={id} type="button" aria-pressed={category === id} onClick={() => filter({ category: id })}>
            {label}
          </button>
        ))}
      </div>
      <Loaded of={cargos} what="the catalog">
        {(list) => (
          <CargoList
            cargos={list.filter((cargo) => fits(cargo, category, search))}
            known={known}
            models={models.value}
          />
        )}
      </Loaded>
    </>
  );
}

function CargoList({
  cargos,
  known,
  models,
}: {
  readonly cargos: readonly Cargo[];
  readonly known: AvailabilityBySlug;
  readonly models: ReadonlyMap<string, Model> | undefined;
}) {
  if (cargos.length === 0) return <EmptyState title="No Cargo matches" />;
  return (
    <section class="panel">
      <SimpleTable
        rows={cargos}
        label="Cargos"
        keyOf={({ slug }) => slug}
        columns={[
          { label: "Cargo", cell: (cargo) => <Description of={cargo} /> },
          { label: "Availability", cell: ({ slug }) => <Availability known={known} slug={slug} /> },
          { label: "Credits per job", isNumber: true, cell: (cargo) => formatCredits(cargo.price_per_job) },
          {
            label: "Credits per million tokens",
            isNumber: true,
            isExtra: true,
            cell: (cargo) => describeTokenRates(cargo.pricing) ?? "–",
          },
          {
            label: "Context",
            isNumber: true,
            isExtra: true,
            cell: (cargo) => orDash(cargo.context_tokens, formatWhole),
          },
          {
            label: "Tokens/s",
            isNumber: true,
            isExtra: true,
            cell: ({ slug }) => orDash(models?.get(slug)?.tokens_per_second, formatRate),
          },
          {
            label: "First token",
            isNumber: true,
            isExtra: true,
            cell: ({ slug }) => orDash(models?.get(slug)?.first_token_ms, formatDuration),
          },
        ]}
      />
    </section>
  );
}

function orDash(value: number | null | undefined, format: (value: number) => string): string {
  return value == null ? "–" : format(value);
}

function Description({ of: cargo }: { readonly of: Cargo }) {
  return (
    <div class="cargo-cell">
      <Link to={`/catalog/${encodeURIComponent(cargo.slug)}`}>{cargo.name}</Link> {cargo.declared && <DeclaredBadge />}
      <p class="muted extra">{cargo.description}</p>
      <div class="extra">
        <ModelFacts of={cargo} />
      </div>
    </div>
  );
}

function Availability({ known, slug }: { readonly known: AvailabilityBySlug; readonly slug: string }) {
  const state = describeAvailability(known, slug);
  return state === null ? null : <Badge tone={state.tone}>{state.text}</Badge>;
}

function fits(cargo: Cargo, category: string, search: string): boolean {
  if (category !== "" && cargo.category !== category) return false;
  const text = `${cargo.slug} ${cargo.name} ${cargo.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
