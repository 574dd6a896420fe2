import { isDeepStrictEqual } from "node:util";
import { manifestOf, type CargoCategory, type CargoManifest, type RuntimeType } from "../../shared/cargo.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { CatalogCargo } from "./cargo-file.ts";

export interface CatalogEntry extends CatalogCargo {
  /** `workload_id` of the spec. */
  readonly workloadId: number;
  /** The account that alone may see and run it, as the operator has not approved it. Absent: it is everybody's. */
  readonly privateTo?: string;
}

export interface CatalogFilter {
  readonly runtimeType?: RuntimeType | undefined;
  readonly category?: CargoCategory | undefined;
}

/** True if `entry` is everybody's and runs what `accepted` ran for its owner alone. */
export function isApprovalOf(entry: CatalogEntry, accepted: CatalogEntry): boolean {
  if (entry.privateTo !== undefined || accepted.privateTo === undefined) return false;
  return isDeepStrictEqual(withoutNetwork(entry), withoutNetwork(accepted));
}

/** What the Cargo runs, but for the network, which comes with the approval. */
function withoutNetwork(entry: CatalogEntry): CargoManifest {
  const { container, ...rest } = manifestOf(entry);
  return container === undefined ? rest : { ...rest, container: { ...container, network: false } };
}

/** The enabled Cargos as they are now, by slug. Its only writer is the catalog's keeper; an entry never changes, it is replaced. */
export class Catalog {
  #entries: ReadonlyMap<string, CatalogEntry>;
  /** Slug of the chat Cargo that is used when a chat request names none. */
  readonly defaultChatSlug: string;

  constructor(entries: readonly CatalogEntry[], defaultChatSlug: string) {
    this.#entries = bySlug(entries);
    this.defaultChatSlug = defaultChatSlug;
  }

  /** What `accountId` may run under that slug; without an account, what everybody may. */
  find(slug: string, accountId?: string): CatalogEntry | undefined {
    const entry = this.#entries.get(slug);
    return entry?.privateTo === undefined || entry.privateTo === accountId ? entry : undefined;
  }

  /** As `find`. @throws {ServiceError} `cargo_not_found` */
  get(slug: string, accountId?: string): CatalogEntry {
    const entry = this.find(slug, accountId);
    if (entry === undefined) throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
    return entry;
  }

  /** Whoever may run it: what the scheduler goes by. */
  known(slug: string): CatalogEntry | undefined {
    return this.#entries.get(slug);
  }

  /** What `accountId` may run, in order of slug; without an account, what everybody may. */
  list(filter: CatalogFilter = {}, accountId?: string): CatalogEntry[] {
    return [...this.#entries.values()]
      .filter((entry) => entry.privateTo === undefined || entry.privateTo === accountId)
      .filter((entry) => filter.runtimeType === undefined || entry.runtimeType === filter.runtimeType)
      .filter((entry) => filter.category === undefined || entry.category === filter.category);
  }

  /** Takes `entries` in the place of all there were. Returns the slugs that came, went or have another entry now. */
  replace(entries: readonly CatalogEntry[]): string[] {
    const before = this.#entries;
    this.#entries = bySlug(entries);
    const slugs = new Set([...before.keys(), ...this.#entries.keys()]);
    return [...slugs].filter((slug) => before.get(slug) !== this.#entries.get(slug));
  }
}

function bySlug(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  const sorted = entries.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
  return new Map(sorted.map((entry) => [entry.slug, entry]));
}
