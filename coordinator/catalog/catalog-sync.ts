import type { Clock } from "../../shared/clock.ts";
import { every } from "../../shared/async/every.ts";
import type { Logger } from "../../shared/logger.ts";
import type { CargoApproval, CatalogSnapshot, NumberedCargo, StoredCargo } from "../store/catalog.ts";
import type { Store } from "../store/store.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf, readCargo, type CatalogCargo } from "./cargo-file.ts";
import { isOffUnpinned } from "./cargo-pins.ts";
import { approvedForm } from "./approval-rules.ts";
import { purposeOf } from "./model-kind.ts";
import { Catalog, type CatalogEntry } from "./catalog.ts";
import type { DefaultSlugs } from "../config/default-cargo-settings.ts";
import { readShippedCargos } from "./load-catalog.ts";

/** Poll interval for changes by other processes (`coordinator cargo approve`). Each poll reads one number. */
const WATCH_EVERY_MS = 1_000;
/** Between looks for Cargos that nobody knows here: requests for nonsense must not load the database. */
const LOOK_EVERY_MS = 200;

interface CatalogSyncOptions {
  /** Folder of the shipped catalog; read once, at the start. */
  readonly directory: string;
  readonly store: Pick<Store["catalog"], "numberCargos" | "numbers" | "revision" | "snapshot">;
  /** The Cargos of requests that name no model, as the operator set them. */
  readonly defaults: DefaultSlugs;
  /** The operator's other names for Cargos. */
  readonly aliases?: ReadonlyMap<string, string>;
  /** Other coordinators change Cargos too. */
  readonly isShared?: boolean;
  /** @see CoordinatorConfig.commandLine */
  readonly commandLine: (words: string) => string;
  readonly clock: Pick<Clock, "now" | "monotonicMs" | "schedule">;
  readonly log: Pick<Logger, "info" | "warn" | "error">;
}

/** A Cargo that ships as a file. */
interface Shipped {
  readonly file: CargoFile;
  /** As in the file, which is offered unless it is off for want of pins. */
  readonly entry: CatalogEntry;
}

interface Pinned {
  readonly revision: string;
  readonly entry: CatalogEntry;
}

interface Priced {
  readonly from: CatalogEntry;
  readonly entry: CatalogEntry;
}

interface Kept {
  readonly revision: number;
  readonly entry: CatalogEntry;
}

/** Keeps the in-memory catalog in sync with files and store. README, "Shipped and stored". */
export class CatalogSync {
  readonly catalog: Catalog;
  readonly #options: CatalogSyncOptions;
  readonly #shipped: ReadonlyMap<string, Shipped>;
  /** Shipped Cargos that are offered with pins of the operator, with the revision that was approved. */
  #pinned = new Map<string, Pinned>();
  /** Shipped Cargos with the price that the operator set, and what each was made from. */
  #priced = new Map<string, Priced>();
  #revision = -1;
  /** Entries of stored Cargos. An unchanged Cargo keeps the same object. */
  #stored = new Map<string, Kept>();
  #onChange: (slug: string) => void = () => undefined;
  #refreshing: Promise<void> = Promise.resolve();
  #lookedMs = -Infinity;
  #looking: Promise<void> | null = null;
  readonly #stop = new AbortController();

  private constructor(options: CatalogSyncOptions, shipped: readonly Shipped[]) {
    this.#options = options;
    this.#shipped = new Map(shipped.map((cargo) => [cargo.file.slug, cargo]));
    const look = options.isShared === true ? () => this.#look() : undefined;
    const aliases = withUsualAliases(options.aliases ?? new Map(), options.defaults);
    this.catalog = new Catalog([], options.defaults, look, aliases);
  }

  /** @throws {CatalogError} if the shipped catalog is invalid. */
  static async open(options: CatalogSyncOptions): Promise<CatalogSync> {
    const files = await readShippedCargos(options.directory, options.defaults);
    const slugs = files.map((file) => file.slug);
    const known = await options.store.numbers();
    // Nothing to write at most starts: a coordinator serves, read-only, while storage cannot be written.
    const areKnown = slugs.every((slug) => known.has(slug));
    const numbers = areKnown ? known : await options.store.numberCargos(slugs, options.clock.now());
    const catalogSync = new CatalogSync(
      options,
      files.map((file) => ({ file, entry: numbered(cargoOf(file), numbers) })),
    );
    await catalogSync.refresh();
    return catalogSync;
  }

  /** Starts polling. From now on calls `onChange` after an entry was added, removed or changed. */
  watch(onChange: (slug: string) => void): void {
    this.#onChange = onChange;
    this.#reportUnpinned();
    this.#reportAliases();
    const { clock, log } = this.#options;
    every({ clock, log, stop: this.#stop.signal }, WATCH_EVERY_MS, "read the stored Cargos", () => this.refresh());
  }

  /** The Cargos of the shipped catalog, as they are in its files. */
  get shippedFiles(): CargoFile[] {
    return [...this.#shipped.values()].map(({ file }) => file);
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
    this.#stop.abort();
    await this.#refreshing.catch(() => undefined);
  }

  /** One at a time. Undefined when the last one was just now. */
  #look(): Promise<void> | undefined {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#looking === null && nowMs - this.#lookedMs >= LOOK_EVERY_MS && !this.#stop.signal.aborted) {
      this.#lookedMs = nowMs;
      this.#looking = this.refresh().finally(() => (this.#looking = null));
    }
    return this.#looking ?? undefined;
  }

  async #read(): Promise<void> {
    const { store } = this.#options;
    if ((await store.revision()) === this.#revision) return;
    const snapshot = await store.snapshot();
    const numbers = await store.numbers();
    const changed = this.catalog.replace(this.#entriesOf(snapshot, numbers));
    this.#revision = snapshot.revision;
    for (const slug of changed) this.#onChange(slug);
  }

  #entriesOf(
    { cargos, disabledSlugs, approvals, pricesMicro }: CatalogSnapshot,
    numbers: ReadonlyMap<string, NumberedCargo>,
  ): CatalogEntry[] {
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
    const shipped = this.#withPrices(this.#shippedEntries(approvals, numbers), pricesMicro);
    const entries = [...shipped, ...[...kept.values()].map(({ entry }) => entry)];
    return entries.filter(({ slug }) => !disabled.has(slug));
  }

  /** Those that are pinned, by their file or by the operator. */
  #shippedEntries(approvals: readonly CargoApproval[], numbers: ReadonlyMap<string, NumberedCargo>): CatalogEntry[] {
    const approvalOf = new Map(approvals.map((approval) => [approval.slug, approval]));
    const pinned = new Map<string, Pinned>();
    const entries = [...this.#shipped.values()].flatMap(({ file, entry }) => {
      if (!isOffUnpinned(file)) return [entry];
      const approval = approvalOf.get(file.slug);
      const approved = approval === undefined ? null : approvedForm(file, approval);
      if (approval === undefined) return [];
      const { revision } = approval;
      if (approved === null) {
        const { log, commandLine } = this.#options;
        const text = `A Cargo that was approved is off, because this version ships another. Review it: ${commandLine(`cargo show ${file.slug}`)}`;
        log.warn({ cargo: file.slug, approved: revision }, text);
        return [];
      }
      const before = this.#pinned.get(file.slug);
      const kept = before?.revision === revision ? before : { revision, entry: numbered(cargoOf(approved), numbers) };
      pinned.set(file.slug, kept);
      return [kept.entry];
    });
    this.#pinned = pinned;
    return entries;
  }

  /** An entry whose price is the same as before keeps its object. */
  #withPrices(entries: readonly CatalogEntry[], pricesMicro: ReadonlyMap<string, number>): CatalogEntry[] {
    const priced = new Map<string, Priced>();
    const result = entries.map((from) => {
      const priceMicro = pricesMicro.get(from.slug);
      if (priceMicro === undefined) return from;
      const before = this.#priced.get(from.slug);
      const isSame = before?.from === from && before.entry.priceMicro === priceMicro;
      const kept = isSame ? before : { from, entry: { ...from, priceMicro } };
      priced.set(from.slug, kept);
      return kept.entry;
    });
    this.#priced = priced;
    return result;
  }

  #reportUnpinned(): void {
    const shipped = [...this.#shipped.values()];
    const off = shipped.filter(({ file }) => isOffUnpinned(file) && !this.#pinned.has(file.slug));
    if (off.length === 0) return;
    const { log, commandLine } = this.#options;
    const offered = shipped.filter((cargo) => !off.includes(cargo));
    const text = `${describeOff(filesOf(off), filesOf(offered))}. To see all of them and offer them: ${commandLine("cargo approve --all-shipped")}`;
    log.info({ count: off.length, of: shipped.length }, text);
  }

  #reportAliases(): void {
    for (const [alias, slug] of this.#options.aliases ?? []) {
      const has = (name: string): boolean => this.catalog.known(name) !== undefined;
      if (has(alias)) this.#options.log.warn({ alias }, "model_aliases: a Cargo has this name; the alias is not used");
      else if (!has(slug))
        this.#options.log.warn(
          { alias, cargo: slug },
          "model_aliases: there is no such Cargo; requests for it get 404",
        );
    }
  }

  #entryOf(stored: StoredCargo, numbers: ReadonlyMap<string, NumberedCargo>): CatalogEntry | null {
    const read = readCargo(stored.file);
    if ("errors" in read) {
      // It was valid when it was stored; the rules became stricter since.
      this.#options.log.warn(
        { cargo: stored.slug, problems: read.errors },
        "A stored Cargo is not offered, because it breaks a rule of this version",
      );
      return null;
    }
    // Imported with the reason why it is not pinned; the approval pins it.
    if (isOffUnpinned(read.file)) return null;
    const entry = numbered(cargoOf(read.file), numbers);
    return stored.isApproved || stored.ownerId === null ? entry : unapproved(entry, stored.ownerId);
  }
}

const filesOf = (cargos: readonly Shipped[]): CargoFile[] => cargos.map(({ file }) => file);

function numbered(cargo: CatalogCargo, numbers: ReadonlyMap<string, NumberedCargo>): CatalogEntry {
  const known = numbers.get(cargo.slug);
  if (known === undefined) throw new Error(`The store gave ${cargo.slug} no number`);
  return { ...cargo, workloadId: known.number, createdAtMs: known.createdAtMs };
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

/** What clients lack while shipped Cargos are off: no speech at all, and fewer models for embeddings. */
function describeOff(off: readonly CargoFile[], offered: readonly CargoFile[]): string {
  const here = new Set(offered.map(purposeOf));
  const purposes = [...new Set(off.map(purposeOf))].sort();
  const parts = [
    ["clients get no ", purposes.filter((purpose) => !here.has(purpose))],
    ["and less choice for ", purposes.filter((purpose) => here.has(purpose))],
  ] as const;
  const lacking = parts.flatMap(([label, some]) => (some.length === 0 ? [] : [`${label}${some.join(", ")}`]));
  return `${off.length} shipped Cargos are off, as nobody has approved their files yet: ${lacking.join(", ")}`;
}

/**
 * The operator's aliases, and the names that the SDKs of the public product ask for by themselves, unless the operator gave these to other
 * Cargos. One whose Cargo is not offered stands for nothing.
 */
export function withUsualAliases(
  own: ReadonlyMap<string, string>,
  defaults: Pick<DefaultSlugs, "chat">,
): ReadonlyMap<string, string> {
  const usual = { "llm-chat": defaults.chat, sdxl: "stable-diffusion-xl-base-1.0" };
  return new Map([...own, ...Object.entries(usual).filter(([name]) => !own.has(name))]);
}
