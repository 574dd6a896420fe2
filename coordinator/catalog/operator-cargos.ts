import type { Clock } from "../../shared/clock.ts";
import type { RuntimeType } from "../../shared/cargo.ts";
import { ServiceError, ValidationError } from "../../shared/errors.ts";
import type { CatalogStore, StoredCargo } from "../store/catalog-store.ts";
import { readCargo, readCargoFile, type CatalogCargo } from "./cargo-file.ts";

/** `waiting`: not approved yet. `off`: switched off by its owner. `disabled`: by the operator. `hidden`: a shipped Cargo has the same slug. */
export type CargoStatus = "offered" | "waiting" | "off" | "disabled" | "hidden";

/** A Cargo in `coordinator cargo list`. */
export interface CargoLine {
  readonly slug: string;
  readonly runtimeType: RuntimeType | null;
  readonly status: CargoStatus;
  /** Null unless `origin` is `owned`. */
  readonly ownerId: string | null;
  readonly origin: "shipped" | "imported" | "owned";
  /** For `approve --revision`; null for a shipped Cargo. */
  readonly revision: number | null;
}

/** The operator's actions on Cargos. They run in another process than the coordinator, which picks them up within a second. */
export class OperatorCargos {
  readonly #store: CatalogStore;
  readonly #shipped: ReadonlyMap<string, CatalogCargo>;
  readonly #clock: Pick<Clock, "now">;

  constructor(store: CatalogStore, shipped: readonly CatalogCargo[], clock: Pick<Clock, "now">) {
    this.#store = store;
    this.#shipped = new Map(shipped.map((cargo) => [cargo.slug, cargo]));
    this.#clock = clock;
  }

  /** All Cargos, sorted by slug. */
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
   * Makes a Cargo public; also enables one that was disabled.
   * @param revision the reviewed revision; undefined for the present one.
   * @throws {ServiceError} `cargo_not_found`; `bad_request` if the owner changed the Cargo since that revision.
   */
  async approve(slug: string, revision?: number): Promise<void> {
    const atMs = this.#clock.now();
    if (!this.#shipped.has(slug)) {
      const stored = await this.#store.find(slug);
      if (stored === undefined) throw noCargo(slug);
      const isApproved = await this.#store.approve(slug, revision ?? stored.revision, atMs);
      if (!isApproved)
        throw new ServiceError(
          "bad_request",
          `${slug} has changed since that revision; review it again with: coordinator cargo list`,
        );
    }
    await this.#store.setDisabled(slug, false, atMs);
  }

  /** Switches a Cargo off for everybody, including its owner. @throws {ServiceError} `cargo_not_found` */
  async disable(slug: string): Promise<void> {
    if (!this.#shipped.has(slug) && (await this.#store.find(slug)) === undefined) throw noCargo(slug);
    await this.#store.setDisabled(slug, true, this.#clock.now());
  }

  /**
   * Stores or replaces a public Cargo of the operator.
   * @param text content of a file like those of catalog/cargos.
   * @throws {ServiceError} `slug_taken`; {@link ValidationError}
   */
  async importFile(text: string): Promise<string> {
    const read = readCargoFile(text);
    if ("errors" in read) throw new ValidationError(read.errors);
    const { slug } = read.file;
    if (this.#shipped.has(slug))
      throw new ServiceError("slug_taken", `A shipped Cargo has the slug "${slug}"; choose another slug`);
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
