import type { Page } from "./page.ts";

/** A Cargo that is not shipped with the product. */
export interface StoredCargo {
  readonly slug: string;
  /** Null: the operator's own, imported. */
  readonly ownerId: string | null;
  /** As a file of catalog/cargos; checked when it was stored. */
  readonly file: unknown;
  /** By its owner. */
  readonly isEnabled: boolean;
  /** By the operator. */
  readonly isApproved: boolean;
  /** Counts the changes of this Cargo, from 1. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface CatalogSnapshot {
  readonly revision: number;
  /** By slug; deleted ones are left out. */
  readonly cargos: readonly StoredCargo[];
  /** Cargos that the operator switched off, shipped ones included. */
  readonly disabledSlugs: readonly string[];
}

/** Most Cargos that an account may have at a time. */
export const MAX_OWNED_CARGOS = 50;
/** Most slugs that an account may ever have had: each keeps its number and its owner for good. */
export const MAX_HELD_SLUGS = 1_000;

/** What the catalog has beside the shipped files. Every write raises its revision; other processes may write too. */
export interface CatalogStore {
  /**
   * Gives every slug its number, new ones the next free, and returns all of them: `workload_id` of the spec is stable for ever,
   * also for a Cargo that left the catalog.
   */
  numberCargos(slugs: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Cheap enough to be asked every second. */
  revision(): Promise<number>;
  /** All at one moment. */
  snapshot(): Promise<CatalogSnapshot>;
  /** Undefined also for one that was deleted. */
  find(slug: string): Promise<StoredCargo | undefined>;
  /** By slug. `total` counts all. */
  listOwned(ownerId: string, page: Page): Promise<{ cargos: StoredCargo[]; total: number }>;
  /**
   * Stores a Cargo that is not approved. An owner may take up a slug again that he deleted.
   * @throws {ServiceError} `slug_taken` by whoever else; `too_many_cargos` past {@link MAX_OWNED_CARGOS} or
   * {@link MAX_HELD_SLUGS}.
   */
  create(cargo: {
    slug: string;
    ownerId: string;
    file: unknown;
    isEnabled: boolean;
    atMs: number;
  }): Promise<StoredCargo>;
  /** Replaces what revision `revision` was. False, with nothing changed, when that is not the present one. */
  update(change: {
    slug: string;
    ownerId: string;
    revision: number;
    file: unknown;
    isEnabled: boolean;
    isApproved: boolean;
    atMs: number;
  }): Promise<boolean>;
  /** Forgets all but the slug, its owner and its number. False when the account has no such Cargo. */
  remove(slug: string, ownerId: string, atMs: number): Promise<boolean>;
  /** Stores the operator's own Cargo, approved, or replaces it. @throws {ServiceError} `slug_taken` by an account. */
  importCargo(cargo: { slug: string; file: unknown; atMs: number }): Promise<StoredCargo>;
  /** Approves that revision. False, with nothing changed, when it is not the present one. */
  approve(slug: string, revision: number, atMs: number): Promise<boolean>;
  /** The operator's switch, for shipped Cargos too. */
  setDisabled(slug: string, isDisabled: boolean, atMs: number): Promise<void>;
}
