import type { Page } from "./page.ts";

/** A Cargo that is not shipped with the product. */
export interface StoredCargo {
  readonly slug: string;
  /** Null for a Cargo that the operator imported. */
  readonly ownerId: string | null;
  /** The content of a file of catalog/cargos; checked before it is stored. */
  readonly file: unknown;
  /** Set by its owner. */
  readonly isEnabled: boolean;
  /** Set by the operator. */
  readonly isApproved: boolean;
  /** 1 at first; each change adds 1. */
  readonly revision: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What the operator approved last of a Cargo. It holds for the present definition if that needs no new approval. */
export interface CargoApproval {
  readonly slug: string;
  /** The approved definition, with its pins; like a file of catalog/cargos. */
  readonly file: unknown;
  /** Hash of that definition. */
  readonly revision: string;
  /** The user of the operating system who approved it. */
  readonly by: string;
  readonly atMs: number;
}

/** What stays the same of a slug for ever, also for a Cargo that left the catalog. */
export interface NumberedCargo {
  /** `workload_id` of the spec. */
  readonly number: number;
  /** When the slug first came into the catalog of this network. */
  readonly createdAtMs: number;
}

export interface CatalogSnapshot {
  readonly revision: number;
  /** Sorted by slug, without deleted ones. */
  readonly cargos: readonly StoredCargo[];
  /** Cargos that the operator disabled, shipped ones included. */
  readonly disabledSlugs: readonly string[];
  /** Sorted by slug. */
  readonly approvals: readonly CargoApproval[];
  /** What the operator set for shipped Cargos, in micro-credits a job, by slug. */
  readonly pricesMicro: ReadonlyMap<string, number>;
}

/** Cargos that an account may have at a time. */
export const MAX_OWNED_CARGOS = 50;
/** Slugs that an account may ever have used, deleted ones included: a slug keeps its number and owner for good. */
export const MAX_HELD_SLUGS = 1_000;

/** The Cargos that are not shipped as files. Every write raises the catalog's revision; other processes may write too. */
export interface CatalogStore {
  /** Gives each new slug the next free number and the date `atMs`, and returns those of all slugs. */
  numberCargos(slugs: readonly string[], atMs: number): Promise<ReadonlyMap<string, NumberedCargo>>;
  /** Cheap: callers poll it every second. */
  revision(): Promise<number>;
  /** One consistent read. */
  snapshot(): Promise<CatalogSnapshot>;
  /** Undefined for an unknown or deleted Cargo. */
  find(slug: string): Promise<StoredCargo | undefined>;
  /** Sorted by slug. `total` counts all pages. */
  listOwned(ownerId: string, page: Page): Promise<{ cargos: StoredCargo[]; total: number }>;
  /**
   * Stores a Cargo that is not yet approved. An owner may use the slug of a deleted Cargo again.
   * @throws {ServiceError} `slug_taken` if another owner has or had the slug; `too_many_cargos` beyond {@link MAX_OWNED_CARGOS} or
   * {@link MAX_HELD_SLUGS}.
   */
  create(cargo: {
    slug: string;
    ownerId: string;
    file: unknown;
    isEnabled: boolean;
    atMs: number;
  }): Promise<StoredCargo>;
  /** Replaces the Cargo if `revision` is still its present one; else returns false and changes nothing. */
  update(change: {
    slug: string;
    ownerId: string;
    revision: number;
    file: unknown;
    isEnabled: boolean;
    isApproved: boolean;
    atMs: number;
  }): Promise<boolean>;
  /** Deletes the Cargo; slug, owner and number are kept. False if the account has no such Cargo. */
  remove(slug: string, ownerId: string, atMs: number): Promise<boolean>;
  /** Stores or replaces a Cargo of the operator, approved. @throws {ServiceError} `slug_taken` if an account has the slug. */
  importCargo(cargo: { slug: string; file: unknown; atMs: number }): Promise<StoredCargo>;
  /**
   * Records an approval and switches the Cargo on. A stored Cargo gets the approved definition, if `storedRevision` is still its present
   * one; else returns false and changes nothing.
   * @param storedRevision null for a shipped Cargo.
   */
  approve(approval: CargoApproval, storedRevision: number | null): Promise<boolean>;
  /** Switches a Cargo off or on for everybody; shipped Cargos too. False if it is so already. */
  setDisabled(slug: string, isDisabled: boolean, atMs: number): Promise<boolean>;
  /** Sets the price of a shipped Cargo; null: that of its file again. False if it is so already. */
  setPrice(slug: string, micro: number | null, atMs: number): Promise<boolean>;
}
