import { ServiceError, ValidationError, type FieldError } from "../../shared/errors.ts";
import { isCoordinatorPath } from "../../shared/model-address.ts";
import type { Env } from "../env.ts";
import type { StoredCargo } from "../store/catalog.ts";
import type { Store } from "../store/store.ts";
import type { Page } from "../store/steps/page.ts";
import { needsApproval } from "./approval-rules.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { readCargo } from "./cargo-file.ts";
import type { CatalogSync } from "./catalog-sync.ts";

/** Maximum values for a Cargo of an account. Imported Cargos may exceed them. */
const MAX_OWNED_PRICE = 1_000;
/** The price of a million generated tokens if a chat costs {@link MAX_OWNED_PRICE}. */
const MAX_OWNED_RATE = MAX_OWNED_PRICE * 1_600;
const MAX_OWNED_RUN_S = 3_600;
const MAX_OWNED_WAIT_S = 86_400;
const MAX_OWNED_BYTES = 65_536;

export interface OwnedCargo extends StoredCargo {
  readonly file: CargoFile;
}

/** Changed fields of a Cargo by name; null removes an optional field. */
type CargoPatch = Readonly<Record<string, unknown>>;

export type Cargos = ReturnType<typeof openCargos>;

/**
 * Manages the Cargos of accounts.
 * @param schemaErrors Returns the errors of schemas that take long to compile; null if the Cargo has no such schema. When a method resolves, its change is in the catalog of all reachable coordinators.
 */
export function openCargos(
  { clock }: Pick<Env, "clock">,
  store: Store["catalog"],
  catalogSync: Pick<CatalogSync, "refresh" | "isShipped">,
  announce: () => Promise<void> | undefined,
  schemaErrors: (accountId: string, file: CargoFile) => Promise<FieldError[]> | null,
) {
  const show = (): Promise<unknown> => Promise.all([catalogSync.refresh(), announce()]);

  async function readOwned(accountId: string, fields: CargoPatch): Promise<CargoFile> {
    const file = readFields(fields);
    const errors = (await schemaErrors(accountId, file)) ?? [];
    if (errors.length > 0) throw new ValidationError(errors);
    return file;
  }

  const cargos = {
    /** Stores a Cargo, private until its approval. @throws {ServiceError} `slug_taken`; {@link ValidationError} */
    async create(ownerId: string, fields: CargoPatch, isEnabled: boolean): Promise<OwnedCargo> {
      const file = await readOwned(ownerId, withoutNulls(fields));
      if (catalogSync.isShipped(file.slug))
        throw new ServiceError("slug_taken", `A shipped Cargo has the slug "${file.slug}"; choose another slug`);
      const stored = await store.create({ slug: file.slug, ownerId, file, isEnabled, atMs: clock.now() });
      await show();
      return { ...stored, file };
    },
    /**
     * Changes the given fields. The Cargo loses its approval if the change needs one (`needsApproval`).
     * @throws {ServiceError} `cargo_not_found`; {@link ValidationError}
     */
    async update(ownerId: string, slug: string, patch: CargoPatch, isEnabled?: boolean): Promise<OwnedCargo> {
      for (;;) {
        const before = await cargos.get(ownerId, slug);
        // The price of the file follows from the changed `pricing`.
        const repriced = patch["pricing"] == null ? {} : { price_per_job: null };
        const file = await readOwned(ownerId, withoutNulls({ ...before.file, ...repriced, ...patch }));
        const isStored = await store.update({
          slug,
          ownerId,
          revision: before.revision,
          file,
          isEnabled: isEnabled ?? before.isEnabled,
          isApproved: before.isApproved && !needsApproval(before.file, file),
          atMs: clock.now(),
        });
        // If another request changed the Cargo first, this one is repeated. Each round, one request succeeds.
        if (!isStored) continue;
        await show();
        return cargos.get(ownerId, slug);
      }
    },
    /**
     * Deletes a Cargo. Its waiting jobs fail, and its assigned jobs continue.
     * @throws {ServiceError} `cargo_not_found`
     */
    async remove(ownerId: string, slug: string): Promise<void> {
      if (!(await store.remove(slug, ownerId, clock.now()))) throw notFound(slug);
      await show();
    },
    async removeAll(ownerId: string): Promise<void> {
      const page = { limit: 100, offset: 0 };
      let { cargos: owned } = await store.listOwned(ownerId, page);
      if (owned.length === 0) return;
      for (; owned.length > 0; { cargos: owned } = await store.listOwned(ownerId, page)) {
        for (const { slug } of owned) await store.remove(slug, ownerId, clock.now());
      }
      await show();
    },
    /** Returns a page of an account's Cargos, sorted by slug. `total` counts all pages. */
    async list(ownerId: string, page: Page): Promise<{ cargos: OwnedCargo[]; total: number }> {
      const { cargos: owned, total } = await store.listOwned(ownerId, page);
      return { cargos: owned.map(withFile), total };
    },
    /** Returns a Cargo of the account, even if disabled. @throws {ServiceError} `cargo_not_found` */
    async get(ownerId: string, slug: string): Promise<OwnedCargo> {
      const stored = await store.find(slug);
      if (stored === undefined || stored.ownerId !== ownerId) throw notFound(slug);
      return withFile(stored);
    },
  };
  return cargos;
}

function readFields(fields: CargoPatch): CargoFile {
  const read = readCargo(fields);
  if ("errors" in read) throw new ValidationError(read.errors);
  const problems = ownedProblems(read.file);
  if (problems.length > 0) throw new ValidationError(problems);
  return read.file;
}

function ownedProblems(file: CargoFile): FieldError[] {
  const bytes = Buffer.byteLength(JSON.stringify(file));
  if (bytes > MAX_OWNED_BYTES) {
    return [{ path: "", message: `the Cargo is ${bytes} bytes as JSON, but at most ${MAX_OWNED_BYTES} are allowed` }];
  }
  const problems: FieldError[] = [];
  const atMost = (path: "price_per_job" | "run_limit_s" | "wait_limit_s", limit: number): void => {
    if (file[path] > limit) problems.push({ path, message: `must be at most ${limit}` });
  };
  atMost("price_per_job", MAX_OWNED_PRICE);
  for (const [name, rate] of Object.entries(file.pricing ?? {})) {
    if (typeof rate === "number" && rate > MAX_OWNED_RATE)
      problems.push({ path: `pricing.${name}`, message: `must be at most ${MAX_OWNED_RATE}` });
  }
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

/** Removes null fields, so that a required one is reported as missing. */
function withoutNulls(fields: CargoPatch): CargoPatch {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}

function withFile(stored: StoredCargo): OwnedCargo {
  // Only this file writes Cargos of accounts, and it validates them.
  return { ...stored, file: stored.file as CargoFile };
}

function notFound(slug: string): ServiceError {
  return new ServiceError("cargo_not_found", `You have no Cargo "${slug}"`);
}
