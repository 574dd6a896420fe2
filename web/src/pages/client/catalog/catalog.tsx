import type { Cargo } from "@atoll/client";
import { useResource } from "../../../app/resource.ts";
import { Link, navigate, query } from "../../../app/router.tsx";
import { formatCredits, formatMegabytes } from "../../../components/numbers.ts";
import { PageHead } from "../../../components/page-head.tsx";
import { EmptyState, Loaded } from "../../../components/states.tsx";
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
        {(list) => <CargoList cargos={list.filter((cargo) => fits(cargo, category, search))} />}
      </Loaded>
    </>
  );
}

function CargoList({ cargos }: { readonly cargos: readonly Cargo[] }) {
  if (cargos.length === 0) return <EmptyState title="No Cargo fits" />;
  return (
    <ul class="cards">
      {cargos.map((cargo) => (
        <li key={cargo.slug} class="card">
          <h2>
            <Link to={`/catalog/${encodeURIComponent(cargo.slug)}`}>{cargo.name}</Link>
          </h2>
          <p>{cargo.description}</p>
          <p class="card-foot muted">
            <span>{cargo.runtime_type}</span>
            <span class="num">{formatMegabytes(Math.max(cargo.required_ram_mb, cargo.required_vram_mb))}</span>
            <span class="num">{formatCredits(cargo.price_per_job)} credits</span>
          </p>
        </li>
      ))}
    </ul>
  );
}

function fits(cargo: Cargo, category: string, search: string): boolean {
  if (category !== "" && cargo.category !== category) return false;
  const text = `${cargo.slug} ${cargo.name} ${cargo.description}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
