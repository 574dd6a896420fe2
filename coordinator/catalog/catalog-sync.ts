import type { Clock, Timer } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CatalogSnapshot, CatalogStore, StoredCargo } from "../store/catalog-store.ts";
import { cargoOf, readCargo, type CatalogCargo } from "./cargo-file.ts";
import { Catalog, type CatalogEntry } from "./catalog.ts";
import { readShippedCargos } from "./load-catalog.ts";

/** Poll interval for changes by other processes (`coordinator cargo approve`). Each poll reads one number. */
const WATCH_EVERY_MS = 1_000;

interface CatalogSyncOptions {
  /** Folder of the shipped catalog; read once, at the start. */
  readonly directory: string;
  readonly store: Pick<CatalogStore, "numberCargos" | "revision" | "snapshot">;
  readonly defaultChatSlug: string;
  readonly clock: Pick<Clock, "schedule">;
  readonly log: Pick<Logger, "warn" | "error">;
}

interface Kept {
  readonly revision: number;
  readonly entry: CatalogEntry;
}

/** Keeps the in-memory catalog in sync with files and store. README, "Shipped and stored". */
export class CatalogSync {
  readonly catalog: Catalog;
  readonly #options: CatalogSyncOptions;
  readonly #shipped: ReadonlyMap<string, CatalogEntry>;
  #revision = -1;
  /** Entries of stored Cargos. An unchanged Cargo keeps the same object. */
  #stored = new Map<string, Kept>();
  #onChange: (slug: string) => void = () => undefined;
  #timer: Timer | null = null;
  #refreshing: Promise<void> = Promise.resolve();
  #isClosed = false;

  private constructor(options: CatalogSyncOptions, shipped: readonly CatalogEntry[]) {
    this.#options = options;
    this.#shipped = new Map(shipped.map((entry) => [entry.slug, entry]));
    this.catalog = new Catalog(shipped, options.defaultChatSlug);
  }

  /** @throws {CatalogError} if the shipped catalog is invalid. */
  static async open(options: CatalogSyncOptions): Promise<CatalogSync> {
    const cargos = await readShippedCargos(options.directory, options.defaultChatSlug);
    const numbers = await options.store.numberCargos(cargos.map((cargo) => cargo.slug));
    const catalogSync = new CatalogSync(
      options,
      cargos.map((cargo) => numbered(cargo, numbers)),
    );
    await catalogSync.refresh();
    return catalogSync;
  }

  /** Starts polling. From now on calls `onChange` after an entry was added, removed or changed. */
  watch(onChange: (slug: string) => void): void {
    this.#onChange = onChange;
    this.#watchLater();
  }

  isShipped(slug: string): boolean {
    return this.#shipped.has(slug);
  }

  /** Reads the store. Resolves when everything stored before the call is in the catalog. */
  refresh(): Promise<void> {
    // One at a time, so that the latest snapshot is applied last.
    this.#refreshing = this.#refreshing.catch(() => undefined).then(() => this.#read());
    return this.#refreshing;
  }

  /** Stops polling. Resolves when no read is in progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#refreshing.catch(() => undefined);
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    if ((await store.revision()) === this.#revision) return;
    const snapshot = await store.snapshot();
    const numbers = await store.numberCargos([]);
    const changed = this.catalog.replace(this.#entriesOf(snapshot, numbers));
    this.#revision = snapshot.revision;
    for (const slug of changed) this.#onChange(slug);
  }

  #entriesOf({ cargos, disabledSlugs }: CatalogSnapshot, numbers: ReadonlyMap<string, number>): CatalogEntry[] {
    const disabled = new Set(disabledSlugs);
    const kept = new Map<string, Kept>();
    for (const cargo of cargos) {
      const { slug, revision } = cargo;
      if (!cargo.isEnabled || this.#shipped.has(slug)) continue;
      const before = this.#stored.get(slug);
      const entry = before?.revision === revision ? before.entry : this.#entryOf(cargo, numbers);
      if (entry !== null) kept.set(slug, { revision, entry });
    }
    this.#stored = kept;
    const entries = [...this.#shipped.values(), ...[...kept.values()].map(({ entry }) => entry)];
    return entries.filter(({ slug }) => !disabled.has(slug));
  }

  #entryOf(stored: StoredCargo, numbers: ReadonlyMap<string, number>): CatalogEntry | null {
    const read = readCargo(stored.file);
    if ("errors" in read) {
      // It was valid when it was stored; the rules became stricter since.
      this.#options.log.warn(
        { slug: stored.slug, problems: read.errors },
        "A stored Cargo is not offered, because it breaks a rule of this version",
      );
      return null;
    }
    const entry = numbered(cargoOf(read.file), numbers);
    return stored.isApproved || stored.ownerId === null ? entry : unapproved(entry, stored.ownerId);
  }

  #watchLater(): void {
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.schedule(WATCH_EVERY_MS, () => {
      this.refresh()
        .catch((error: unknown) =>
          this.#options.log.error({ err: error }, "Could not read the stored Cargos; the catalog keeps its last state"),
        )
        .finally(() => this.#watchLater());
    });
  }
}

function numbered(cargo: CatalogCargo, numbers: ReadonlyMap<string, number>): CatalogEntry {
  const workloadId = numbers.get(cargo.slug);
  if (workloadId === undefined) throw new Error(`The store gave ${cargo.slug} no number`);
  return { ...cargo, workloadId };
}

/** Private to its owner until approved, and without network, because nobody else has reviewed it. */
function unapproved(entry: CatalogEntry, ownerId: string): CatalogEntry {
  const { container } = entry;
  return {
    ...entry,
    privateTo: ownerId,
    ...(container === undefined ? {} : { container: { ...container, network: false } }),
  };
}
