import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError, type FieldError } from "../../shared/errors.ts";
import { isCoordinatorPath } from "../../shared/model-address.ts";
import type { StoredCargo } from "../store/catalog.ts";
import type { Store } from "../store/store.ts";
import type { Page } from "../store/steps/page.ts";
import { needsApproval } from "./approval-rules.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { readCargo } from "./cargo-file.ts";
import type { CatalogSync } from "./catalog-sync.ts";

/** Limits of an owner's Cargo; Cargos that the operator imports may exceed them. */
const MAX_OWNED_PRICE = 1_000;
const MAX_OWNED_RUN_S = 3_600;
const MAX_OWNED_WAIT_S = 86_400;
/** All fields as JSON. Bounded, because lists of Cargos contain every field. */
const MAX_OWNED_BYTES = 65_536;

/** An owner's Cargo with its file parsed. */
export interface OwnedCargo extends StoredCargo {
  readonly file: CargoFile;
}

/** Fields of a Cargo by name; `null` removes an optional field. */
export type CargoPatch = Readonly<Record<string, unknown>>;

export interface CargoServiceDeps {
  readonly store: Store["catalog"];
  readonly catalogSync: Pick<CatalogSync, "refresh" | "isShipped">;
  readonly clock: Pick<Clock, "now">;
  /** Makes a change known to the other coordinators. */
  readonly tellOthers?: () => Promise<void> | undefined;
}

/** What owners can do with their own Cargos; to another account they do not exist. A change is in the catalog, also of the other coordinators, when its method resolves. */
export class CargoService {
  readonly #deps: CargoServiceDeps;

  constructor(deps: CargoServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Stores a Cargo that only its owner can run until the operator approves it.
   * @throws {ServiceError} `slug_taken`; {@link ValidationError}
   */
  async create(ownerId: string, fields: CargoPatch, isEnabled: boolean): Promise<OwnedCargo> {
    const file = readOwned(withoutNulls(fields));
    const { store, catalogSync, clock } = this.#deps;
    if (catalogSync.isShipped(file.slug))
      throw new ServiceError("slug_taken", `A shipped Cargo has the slug "${file.slug}"; choose another slug`);
    const stored = await store.create({ slug: file.slug, ownerId, file, isEnabled, atMs: clock.now() });
    await this.#show();
    return { ...stored, file };
  }

  /**
   * Changes the given fields. The Cargo loses its approval if what runs, its name or its description changes, if its price rises or if
   * its memory figures fall.
   * @throws {ServiceError} `cargo_not_found`; {@link ValidationError}
   */
  async update(ownerId: string, slug: string, patch: CargoPatch, isEnabled?: boolean): Promise<OwnedCargo> {
    const { store, clock } = this.#deps;
    for (;;) {
      const before = await this.get(ownerId, slug);
      const file = readOwned(merged(before.file, patch));
      const isStored = await store.update({
        slug,
        ownerId,
        revision: before.revision,
        file,
        isEnabled: isEnabled ?? before.isEnabled,
        isApproved: before.isApproved && !needsApproval(before.file, file),
        atMs: clock.now(),
      });
      // Another request was faster: start again from its result. Every round one request succeeds, so this ends.
      if (!isStored) continue;
      await this.#show();
      return this.get(ownerId, slug);
    }
  }

  /** Deletes a Cargo. Its waiting jobs fail; assigned ones go on. @throws {ServiceError} `cargo_not_found` */
  async remove(ownerId: string, slug: string): Promise<void> {
    const { store, clock } = this.#deps;
    if (!(await store.remove(slug, ownerId, clock.now()))) throw notFound(slug);
    await this.#show();
  }

  /** Deletes all Cargos of an account that is being deleted. */
  async removeAll(ownerId: string): Promise<void> {
    const { store, clock } = this.#deps;
    const page = { limit: 100, offset: 0 };
    let { cargos } = await store.listOwned(ownerId, page);
    if (cargos.length === 0) return;
    for (; cargos.length > 0; { cargos } = await store.listOwned(ownerId, page)) {
      for (const { slug } of cargos) await store.remove(slug, ownerId, clock.now());
    }
    await this.#show();
  }

  /** Sorted by slug. `total` counts all pages. */
  async list(ownerId: string, page: Page): Promise<{ cargos: OwnedCargo[]; total: number }> {
    const { cargos, total } = await this.#deps.store.listOwned(ownerId, page);
    return { cargos: cargos.map(withFile), total };
  }

  /** Also returns a disabled Cargo. @throws {ServiceError} `cargo_not_found` */
  async get(ownerId: string, slug: string): Promise<OwnedCargo> {
    const stored = await this.#deps.store.find(slug);
    if (stored === undefined || stored.ownerId !== ownerId) throw notFound(slug);
    return withFile(stored);
  }

  async #show(): Promise<void> {
    await Promise.all([this.#deps.catalogSync.refresh(), this.#deps.tellOthers?.()]);
  }
}

function readOwned(fields: CargoPatch): CargoFile {
  const read = readCargo(fields);
  if ("errors" in read) throw new ValidationError(read.errors);
  const problems = ownedProblems(read.file);
  if (problems.length > 0) throw new ValidationError(problems);
  return read.file;
}

function ownedProblems(file: CargoFile): FieldError[] {
  const bytes = Buffer.byteLength(JSON.stringify(file));
  if (bytes > MAX_OWNED_BYTES) {
    return [{ path: "", message: `the Cargo is ${bytes} bytes as JSON; at most ${MAX_OWNED_BYTES} are taken` }];
  }
  const problems: FieldError[] = [];
  const atMost = (path: "price_per_job" | "run_limit_s" | "wait_limit_s", limit: number): void => {
    if (file[path] > limit) problems.push({ path, message: `must be at most ${limit}` });
  };
  atMost("price_per_job", MAX_OWNED_PRICE);
  atMost("run_limit_s", MAX_OWNED_RUN_S);
  atMost("wait_limit_s", MAX_OWNED_WAIT_S);
  if (file.unpinned_reason !== undefined)
    problems.push({ path: "unpinned_reason", message: "is for catalog files only" });
  if (file.signatures !== undefined) problems.push({ path: "signatures", message: "is for catalog files only" });
  if (file.model !== null && isCoordinatorPath(file.model.url)) {
    problems.push({ path: "model.url", message: "must be hf:owner/repo[:file] or an https URL" });
  }
  return problems;
}

function merged(file: CargoFile, patch: CargoPatch): CargoPatch {
  return withoutNulls({ ...file, ...patch });
}

/** An optional field becomes absent; a required field is then reported as missing. */
function withoutNulls(fields: CargoPatch): CargoPatch {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function withFile(stored: StoredCargo): OwnedCargo {
  // Only this class writes owned Cargos, after checking them.
  return { ...stored, file: stored.file as CargoFile };
}

function notFound(slug: string): ServiceError {
  return new ServiceError("cargo_not_found", `You have no Cargo "${slug}"`);
}
