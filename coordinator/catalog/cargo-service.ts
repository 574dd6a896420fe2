import type { Clock } from "../../shared/clock.ts";
import { ServiceError, ValidationError, type FieldError } from "../../shared/errors.ts";
import { isCoordinatorPath } from "../../shared/model-address.ts";
import type { CatalogStore, StoredCargo } from "../store/catalog-store.ts";
import type { Page } from "../store/page.ts";
import { readCargo, type CargoFile } from "./cargo-file.ts";
import type { CatalogKeeper } from "./catalog-keeper.ts";

/** An operator may import dearer and longer ones. */
const MAX_OWNED_PRICE = 1_000;
const MAX_OWNED_RUN_S = 3_600;
const MAX_OWNED_WAIT_S = 86_400;
/** Of all fields as JSON: each list of Cargos carries the whole of each. */
const MAX_OWNED_BYTES = 65_536;

/** An owner's Cargo with its file read. */
export interface OwnedCargo extends StoredCargo {
  readonly file: CargoFile;
}

/** Fields of a Cargo by name; `null` takes one away that may be missing. */
export type CargoPatch = Readonly<Record<string, unknown>>;

/**
 * Fields that an owner may change without a new approval: they change neither what runs nor what people take it for. Of price and
 * memory only one direction is free.
 */
const FREE_FIELDS: readonly (keyof CargoFile)[] = [
  ...(["licence", "category", "example_input", "output_schema"] as const),
  ...(["required_ram_mb", "required_vram_mb", "parameters", "quantization", "memory", "price_per_job"] as const),
  ...(["run_limit_s", "wait_limit_s"] as const),
];

export interface CargoServiceDeps {
  readonly store: CatalogStore;
  readonly keeper: Pick<CatalogKeeper, "refresh" | "isShipped">;
  readonly clock: Pick<Clock, "now">;
}

/** What owners can do with their Cargos. Another account's do not exist for them. Every change is in the catalog on return. */
export class CargoService {
  readonly #deps: CargoServiceDeps;

  constructor(deps: CargoServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a Cargo that only its owner can run until it is approved.
   * @throws {ServiceError} `slug_taken`; {@link ValidationError}
   */
  async create(ownerId: string, fields: CargoPatch, isEnabled: boolean): Promise<OwnedCargo> {
    const file = readOwned(withoutNulls(fields));
    const { store, keeper, clock } = this.#deps;
    if (keeper.isShipped(file.slug)) throw new ServiceError("slug_taken", `There is a Cargo "${file.slug}"`);
    const stored = await store.create({ slug: file.slug, ownerId, file, isEnabled, atMs: clock.now() });
    await keeper.refresh();
    return { ...stored, file };
  }

  /**
   * Changes the fields that are given. What the approval was given for takes it away: what runs, name and description, a higher
   * price, lower memory figures.
   * @throws {ServiceError} `cargo_not_found`; {@link ValidationError}
   */
  async update(ownerId: string, slug: string, patch: CargoPatch, isEnabled?: boolean): Promise<OwnedCargo> {
    const { store, keeper, clock } = this.#deps;
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
      // Somebody else was faster: begin again with what is there now. Each round, someone has got on.
      if (!isStored) continue;
      await keeper.refresh();
      return this.get(ownerId, slug);
    }
  }

  /** Its waiting jobs fail; those that an Island has go on. @throws {ServiceError} `cargo_not_found` */
  async remove(ownerId: string, slug: string): Promise<void> {
    const { store, keeper, clock } = this.#deps;
    if (!(await store.remove(slug, ownerId, clock.now()))) throw notFound(slug);
    await keeper.refresh();
  }

  /** By slug. `total` counts all. */
  async list(ownerId: string, page: Page): Promise<{ cargos: OwnedCargo[]; total: number }> {
    const { cargos, total } = await this.#deps.store.listOwned(ownerId, page);
    return { cargos: cargos.map(withFile), total };
  }

  /** Also one that is not enabled. @throws {ServiceError} `cargo_not_found` */
  async get(ownerId: string, slug: string): Promise<OwnedCargo> {
    const stored = await this.#deps.store.find(slug);
    if (stored === undefined || stored.ownerId !== ownerId) throw notFound(slug);
    return withFile(stored);
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
  if (file.model !== null && isCoordinatorPath(file.model.url)) {
    problems.push({ path: "model.url", message: "must be hf:owner/repo[:file] or an https URL" });
  }
  return problems;
}

function merged(file: CargoFile, patch: CargoPatch): CargoPatch {
  return withoutNulls({ ...file, ...patch });
}

/** Where a field may be missing, that is how it is written; where it may not, its absence is the error that is told. */
function withoutNulls(fields: CargoPatch): CargoPatch {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function needsApproval(before: CargoFile, after: CargoFile): boolean {
  if (after.price_per_job > before.price_per_job) return true;
  // With less than it needs, its jobs run hosts out of memory.
  if (after.required_ram_mb < before.required_ram_mb || after.required_vram_mb < before.required_vram_mb) return true;
  const names = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof CargoFile)[]);
  return [...names]
    .filter((name) => !FREE_FIELDS.includes(name))
    .some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

function withFile(stored: StoredCargo): OwnedCargo {
  // Written by this class only, which had checked it.
  return { ...stored, file: stored.file as CargoFile };
}

function notFound(slug: string): ServiceError {
  return new ServiceError("cargo_not_found", `You have no Cargo "${slug}"`);
}
