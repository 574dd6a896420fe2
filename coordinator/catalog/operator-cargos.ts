import type { Clock } from "../../shared/clock.ts";
import type { RuntimeType } from "../../shared/cargo.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { CatalogStore, StoredCargo } from "../store/catalog-store.ts";
import { readCargo, readCargoFile, type CatalogCargo } from "./cargo-file.ts";

/** `waiting`: for approval. `off`: by its owner. `disabled`: by the operator. `hidden`: a shipped Cargo has the slug now. */
export type CargoStatus = "offered" | "waiting" | "off" | "disabled" | "hidden";

/** A Cargo as the operator sees it. */
export interface CargoLine {
  readonly slug: string;
  readonly runtimeType: RuntimeType | null;
  readonly status: CargoStatus;
  /** Of an account's Cargo. */
  readonly ownerId: string | null;
  readonly origin: "shipped" | "imported" | "owned";
  /** What `approve` can be tied to; null for shipped ones. */
  readonly revision: number | null;
}

/** What the operator does with Cargos, from beside a running coordinator, which notices within a second. */
export class OperatorCargos {
  readonly #store: CatalogStore;
  readonly #shipped: ReadonlyMap<string, CatalogCargo>;
  readonly #clock: Pick<Clock, "now">;

  constructor(store: CatalogStore, shipped: readonly CatalogCargo[], clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#shipped = new Map(shipped.map((cargo) => [cargo.slug, cargo]));
    this.#clock = clock;
  }

  /** All of them, by slug. */
  async list(): Promise<CargoLine[]> {
    const { cargos, disabledSlugs } = await this.#store.snapshot();
    const disabled = new Set(disabledSlugs);
    const shipped = [...this.#shipped.values()].map(({ slug, runtimeType }): CargoLine => {
      const status = disabled.has(slug) ? "disabled" : "offered";
      return { slug, runtimeType, status, ownerId: null, origin: "shipped", revision: null };
    });
    const stored = cargos.map((cargo): CargoLine => {
      const { slug, ownerId, revision } = cargo;
      const read = readCargo(cargo.file);
      const origin = ownerId === null ? "imported" : "owned";
      const runtimeType = "file" in read ? read.file.runtime_type : null;
      return { slug, runtimeType, status: this.#statusOf(cargo, disabled), ownerId, origin, revision };
    });
    return [...shipped, ...stored].sort((a, b) => (a.slug < b.slug ? -1 : 1));
  }

  /**
   * Offers a Cargo to everybody; also one that was disabled.
   * @param revision the one that was looked at; unset: the present one.
   * @throws {ServiceError} `cargo_not_found`; `bad_request` when the owner has changed it since that revision.
   */
  async approve(slug: string, revision?: number): Promise<void> {
    const atMs = this.#clock.now();
    if (!this.#shipped.has(slug)) {
      const stored = await this.#store.find(slug);
      if (stored === undefined) throw noCargo(slug);
      const isApproved = await this.#store.approve(slug, revision ?? stored.revision, atMs);
      if (!isApproved) throw new ServiceError("bad_request", `${slug} has been changed: look at it again`);
    }
    await this.#store.setDisabled(slug, false, atMs);
  }

  /** Takes a Cargo from everybody, its owner included. @throws {ServiceError} `cargo_not_found` */
  async disable(slug: string): Promise<void> {
    if (!this.#shipped.has(slug) && (await this.#store.find(slug)) === undefined) throw noCargo(slug);
    await this.#store.setDisabled(slug, true, this.#clock.now());
  }

  /**
   * Stores a Cargo of the operator's own, or replaces it, and offers it to everybody.
   * @param text a file as catalog/cargos has them.
   * @throws {ServiceError} `slug_taken`; {@link ValidationError}
   */
  async importFile(text: string): Promise<string> {
    const read = readCargoFile(text);
    if ("errors" in read) throw new ValidationError(read.errors);
    const { slug } = read.file;
    if (this.#shipped.has(slug)) throw new ServiceError("slug_taken", `"${slug}" is shipped with the catalog`);
    await this.#store.importCargo({ slug, file: read.file, atMs: this.#clock.now() });
    return slug;
  }

  #statusOf(cargo: StoredCargo, disabled: ReadonlySet<string>): CargoStatus {
    if (this.#shipped.has(cargo.slug)) return "hidden";
    if (disabled.has(cargo.slug)) return "disabled";
    if (!cargo.isEnabled) return "off";
    return cargo.isApproved ? "offered" : "waiting";
  }
}

function noCargo(slug: string): ServiceError {
  return new ServiceError("cargo_not_found", `There is no Cargo "${slug}"`);
}
