import type { CargoCategory, RuntimeType } from "../../shared/cargo.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { CatalogCargo } from "./cargo-file.ts";

export interface CatalogEntry extends CatalogCargo {
  /** `workload_id` of the spec. */
  readonly workloadId: number;
}

export interface CatalogFilter {
  readonly runtimeType?: RuntimeType | undefined;
  readonly category?: CargoCategory | undefined;
}

/** The enabled and approved Cargos, by slug. */
export class Catalog {
  readonly #entries: ReadonlyMap<string, CatalogEntry>;
  /** Slug of the chat Cargo that is used when a chat request names none. */
  readonly defaultChatSlug: string;

  constructor(entries: readonly CatalogEntry[], defaultChatSlug: string) {
    this.#entries = new Map(entries.map((entry) => [entry.slug, entry]));
    this.defaultChatSlug = defaultChatSlug;
  }

  find(slug: string): CatalogEntry | undefined {
    return this.#entries.get(slug);
  }

  /** @throws {ServiceError} `cargo_not_found` */
  get(slug: string): CatalogEntry {
    const entry = this.#entries.get(slug);
    if (entry === undefined) throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
    return entry;
  }

  /** In order of slug. */
  list(filter: CatalogFilter = {}): CatalogEntry[] {
    return [...this.#entries.values()]
      .filter((entry) => filter.runtimeType === undefined || entry.runtimeType === filter.runtimeType)
      .filter((entry) => filter.category === undefined || entry.category === filter.category)
      .sort((a, b) => (a.slug < b.slug ? -1 : 1));
  }
}
