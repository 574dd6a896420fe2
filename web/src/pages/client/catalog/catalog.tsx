import type { Cargo } from "@atoll/client";
import { useResource } from "../../../app/resource.ts";
import { Link, navigate, query } from "../../../app/router.tsx";
import { formatCredits } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
import { Badge } from "../../../components/status.tsx";
import { describeAvailability, type AvailabilityBySlug } from "../playground/availability.ts";
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
  const category = query.value.get("category") ?? "";
  const search = query.value.get("q") ?? "";
  const filter = (next: { category?: string; q?: string }): void => {
    const values = Object.entries({ category, q: search, ...next }).filter(([, value]) => value !== "");
    const text = new URLSearchParams(values).toString();
    navigate(`/catalog${text === "" ? "" : `?${text}`}`, { replace: true });
  };
  return (
    <>
      <PageHead title="Catalog" note="What the network can run. Each is called a Cargo.">
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
        {(list) => <CargoList cargos={list.filter((cargo) => fits(cargo, category, search))} known={known} />}
      </Loaded>
    </>
  );
}

function CargoList({ cargos, known }: { readonly cargos: readonly Cargo[]; readonly known: AvailabilityBySlug }) {
  if (cargos.length === 0) return <EmptyState title="No Cargo fits the search" />;
  return (
    <ul class="cards">
      {cargos.map((cargo) => (
        <li key={cargo.slug} class="card">
          <h2>
            <Link to={`/catalog/${encodeURIComponent(cargo.slug)}`}>{cargo.name}</Link>
          </h2>
          <p>{cargo.description}</p>
          <p class="card-foot muted">
            <span class="num">{formatCredits(cargo.price_per_job)} credits a job</span>
            <Availability known={known} slug={cargo.slug} />
          </p>
        </li>
      ))}
    </ul>
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
