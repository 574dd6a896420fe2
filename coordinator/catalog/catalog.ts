import { isDeepStrictEqual } from "node:util";
import { manifestOf, type CargoCategory, type CargoManifest, type RuntimeType } from "../../shared/cargo.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { CatalogCargo } from "./cargo-file.ts";
import { isPin } from "./cargo-pins.ts";
import {
  DEFAULT_KINDS,
  SHIPPED_DEFAULTS,
  type DefaultKind,
  type DefaultSlugs,
} from "../config/default-cargo-settings.ts";
import { isFit } from "./model-kind.ts";

/** A Cargo as it is offered to accounts. */
export interface CatalogEntry extends CatalogCargo {
  /** Number of the Cargo, the spec's `workload_id`. */
  readonly workloadId: number;
  /** Time when the slug first entered the catalog of this network. */
  readonly createdAtMs: number;
  /** The only account that may see and run the Cargo before its approval; absent for a public Cargo. */
  readonly privateTo?: string;
}

/** Returns whether `entry` is the approved definition of `accepted`, which was private. */
function isApprovalOf(entry: CatalogEntry, accepted: CatalogEntry): boolean {
  if (entry.privateTo !== undefined || accepted.privateTo === undefined) return false;
  return isDeepStrictEqual(definitionOf(entry, accepted), definitionOf(accepted, accepted));
}

/** Returns the definition without what an approval adds: network access, and the pins that `accepted` lacks. */
function definitionOf(cargo: CargoManifest, accepted: CargoManifest): CargoManifest {
  const { container, model, ...rest } = manifestOf(cargo);
  const hasDigest = accepted.container?.digest != null;
  const hasHash = accepted.model?.sha256 != null;
  const hasCommit = isPin("modelCommit", accepted.model?.url.split("#")[1] ?? "");
  return {
    ...rest,
    model: model && {
      ...model,
      url: hasCommit ? model.url : model.url.replace(/#.*$/s, ""),
      sha256: hasHash ? model.sha256 : null,
    },
    ...(container && { container: { ...container, network: false, digest: hasDigest ? container.digest : null } }),
  };
}

export type Catalog = ReturnType<typeof makeCatalog>;

/**
 * Creates the catalog of enabled Cargos by slug, whose entries are immutable. Only `openCatalog` writes it.
 * @param poll reads what other processes stored, at most at an interval
 */
export function makeCatalog(
  entries: readonly CatalogEntry[],
  defaults: DefaultSlugs,
  poll: () => Promise<void> | undefined = () => undefined,
  aliases: ReadonlyMap<string, string> = new Map(),
) {
  let offered = bySlug(entries);

  function defaultOf(kind: DefaultKind): string | null {
    const set = defaults[kind] ?? null;
    if (set !== null) return set;
    const slug = SHIPPED_DEFAULTS[kind];
    const entry = slug === null ? undefined : catalog.find(slug);
    return entry !== undefined && isFit(kind, entry) ? slug : null;
  }

  const catalog = {
    aliases,
    defaultChatSlug: defaults.chat,
    /**
     * Returns the Cargo for requests of this kind without a model: the operator's choice, or the shipped default if it
     * is offered. @throws {ServiceError} `cargo_not_found` if there is neither
     */
    defaultSlug(kind: DefaultKind): string {
      const slug = defaultOf(kind);
      if (slug !== null) return slug;
      throw new ServiceError(
        "cargo_not_found",
        `Name a model, because there is no default (the operator can set default_${kind}_cargo)`,
      );
    },
    defaultSlugs(): ReadonlySet<string> {
      return new Set(DEFAULT_KINDS.map((kind) => defaultOf(kind)).filter((slug) => slug !== null));
    },
    /** Returns the Cargo that `accountId` may run; without an account, only a public one. */
    find(slug: string, accountId?: string): CatalogEntry | undefined {
      const entry = offered.get(slug);
      return entry?.privateTo === undefined || entry.privateTo === accountId ? entry : undefined;
    },
    /** Finds a Cargo that another process may just have stored. @throws {ServiceError} `storage_unavailable` */
    async seek(slug: string, accountId?: string): Promise<CatalogEntry | undefined> {
      await poll();
      return catalog.find(slug, accountId);
    },
    /** Like `find`, but throws if there is no Cargo. @throws {ServiceError} `cargo_not_found` */
    get(slug: string, accountId?: string): CatalogEntry {
      const entry = catalog.find(slug, accountId);
      if (entry === undefined) throw new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
      return entry;
    },
    /** Returns the Cargo with this slug, even if it is private to an account. */
    known(slug: string): CatalogEntry | undefined {
      return offered.get(slug);
    },
    /** Returns the definition with which an accepted job runs now: the public one if the Cargo was approved since. */
    approvedForm(accepted: CatalogEntry): CatalogEntry {
      const entry = offered.get(accepted.slug);
      return entry !== undefined && isApprovalOf(entry, accepted) ? entry : accepted;
    },
    /** Returns the Cargos that `accountId` may run, sorted by slug; without an account, the public ones. */
    list(
      filter: { runtimeType?: RuntimeType | undefined; category?: CargoCategory | undefined } = {},
      accountId?: string,
    ): CatalogEntry[] {
      return [...offered.values()]
        .filter((entry) => entry.privateTo === undefined || entry.privateTo === accountId)
        .filter((entry) => filter.runtimeType === undefined || entry.runtimeType === filter.runtimeType)
        .filter((entry) => filter.category === undefined || entry.category === filter.category);
    },
    /** Replaces all entries. Returns the slugs of entries that were added, removed or changed. */
    replace(next: readonly CatalogEntry[]): string[] {
      const before = offered;
      offered = bySlug(next);
      const slugs = new Set([...before.keys(), ...offered.keys()]);
      return [...slugs].filter((slug) => before.get(slug) !== offered.get(slug));
    },
  };
  return catalog;
}

function bySlug(entries: readonly CatalogEntry[]): ReadonlyMap<string, CatalogEntry> {
  const sorted = entries.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));
  return new Map(sorted.map((entry) => [entry.slug, entry]));
}
