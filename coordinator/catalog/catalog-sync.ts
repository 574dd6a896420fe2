import { every } from "../../shared/async/every.ts";
import { defaultSlugsOf, type DEFAULT_CARGO_SETTINGS, type DefaultSlugs } from "../config/default-cargo-settings.ts";
import type { Env } from "../env.ts";
import type { CatalogSnapshot, NumberedCargo, StoredCargo } from "../store/catalog.ts";
import type { Store } from "../store/store.ts";
import { approvedForm } from "./approval-rules.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf, readCargo, type CatalogCargo } from "./cargo-file.ts";
import { isOffUnpinned } from "./cargo-pins.ts";
import { makeCatalog, type CatalogEntry } from "./catalog.ts";
import { readShippedCargos } from "./load-catalog.ts";
import { purposeOf } from "./model-kind.ts";

/** Poll interval for changes by other processes (`coordinator cargo approve`). A poll reads one number. */
const WATCH_EVERY_MS = 1_000;
/** Minimum interval between reads for unknown Cargos, so that wrong names do not overload the database. */
const MIN_POLL_MS = 200;

interface CachedEntry {
  readonly from: readonly unknown[];
  readonly entry: CatalogEntry;
}

export type CatalogSync = Awaited<ReturnType<typeof openCatalog>>;

/**
 * Opens the catalog and keeps it equal to the files and the store (see README.md).
 * @throws {CatalogError} if a shipped file is invalid
 */
export async function openCatalog(
  env: Pick<
    Env<"catalogDirectory" | "commandLine" | "modelAliases" | keyof typeof DEFAULT_CARGO_SETTINGS>,
    "config" | "clock" | "log"
  >,
  store: Pick<Store["catalog"], "numberCargos" | "numbers" | "revision" | "snapshot">,
) {
  const { config, clock, log } = env;
  const { commandLine, modelAliases } = config;
  const defaults = defaultSlugsOf(config);
  const files = await readShippedCargos(config.catalogDirectory, defaults);
  const slugs = files.map((file) => file.slug);
  const known = await store.numbers();
  // If all slugs have numbers, the start writes nothing and works while storage is read-only.
  const areNumbered = slugs.every((slug) => known.has(slug));
  const firstNumbers = areNumbered ? known : await store.numberCargos(slugs, clock.now());
  /** Shipped Cargos by slug, with the entry of their file. The entry is offered if it has the required pins. */
  const shipped = new Map(files.map((file) => [file.slug, { file, entry: withNumber(cargoOf(file), firstNumbers) }]));
  const aliases = withUsualAliases(modelAliases, defaults);
  const catalog = makeCatalog([], defaults, poll, aliases);
  const stop = new AbortController();
  /**
   * Entries of stored Cargos, and of shipped Cargos with a pin or price of the operator, so that objects are reused.
   */
  let cached: ReadonlyMap<string, CachedEntry> = new Map();
  let readRevision = -1;
  let report: (slug: string) => void = () => undefined;
  let refreshing: Promise<void> = Promise.resolve();
  let polledMs = -Infinity;
  let polling: Promise<void> | null = null;

  /** Reads the store. Resolves when the catalog contains everything stored before the call. */
  function refresh(): Promise<void> {
    // Reads run one after another, so that the latest snapshot is applied last.
    refreshing = refreshing.catch(() => undefined).then(() => readStore());
    return refreshing;
  }

  /** Reads the store, at most every {@link MIN_POLL_MS}. Returns undefined if the last read was too recent. */
  function poll(): Promise<void> | undefined {
    const nowMs = clock.monotonicMs();
    if (polling === null && nowMs - polledMs >= MIN_POLL_MS && !stop.signal.aborted) {
      polledMs = nowMs;
      polling = refresh().finally(() => (polling = null));
    }
    return polling ?? undefined;
  }

  async function readStore(): Promise<void> {
    if ((await store.revision()) === readRevision) return;
    const snapshot = await store.snapshot();
    const numbers = await store.numbers();
    const changed = catalog.replace(entriesOf(snapshot, numbers));
    readRevision = snapshot.revision;
    for (const slug of changed) report(slug);
  }

  function entriesOf(
    { cargos, disabledSlugs, approvals, pricesMicro }: CatalogSnapshot,
    numbers: ReadonlyMap<string, NumberedCargo>,
  ): CatalogEntry[] {
    const next = new Map<string, CachedEntry>();
    /** Returns the cached entry object if it was made from the same values, otherwise a new one. */
    const keep = <E extends CatalogEntry | null>(key: string, from: readonly unknown[], make: () => E) => {
      const last = cached.get(key);
      const isSame = last?.from.every((each, index) => each === from[index]) === true;
      const entry = isSame ? last.entry : make();
      if (entry !== null) next.set(key, { from, entry });
      return entry;
    };
    const approvalOf = new Map(approvals.map((approval) => [approval.slug, approval]));
    const fromFiles = [...shipped.values()].flatMap(({ file, entry }) => {
      const { slug } = file;
      if (!isOffUnpinned(file)) return [entry];
      const approval = approvalOf.get(slug);
      if (approval === undefined) return [];
      const approved = approvedForm(file, approval);
      if (approved !== null)
        return [keep(pinnedKey(slug), [approval.revision], () => withNumber(cargoOf(approved), numbers))];
      const text = `An approved Cargo is disabled, because this version ships a changed definition. Review it: ${commandLine(`cargo show ${slug}`)}`;
      log.warn({ cargo: slug, approved: approval.revision }, text);
      return [];
    });
    const priced = fromFiles.map((entry) => {
      const { slug } = entry;
      const priceMicro = pricesMicro.get(slug);
      if (priceMicro === undefined) return entry;
      return keep(`priced ${slug}`, [entry, priceMicro], () => ({ ...entry, priceMicro }));
    });
    const fromStore = cargos
      .filter(({ slug, isEnabled }) => isEnabled && !shipped.has(slug))
      .map((cargo) => keep(`stored ${cargo.slug}`, [cargo.revision], () => entryOf(cargo, numbers)))
      .filter((entry) => entry !== null);
    cached = next;
    const disabled = new Set(disabledSlugs);
    return [...priced, ...fromStore].filter(({ slug }) => !disabled.has(slug));
  }

  function entryOf(cargo: StoredCargo, numbers: ReadonlyMap<string, NumberedCargo>): CatalogEntry | null {
    const read = readCargo(cargo.file);
    if ("errors" in read) {
      // A later version has made the rules stricter since the Cargo was stored.
      log.warn(
        { cargo: cargo.slug, problems: read.errors },
        "A stored Cargo is not offered, because it violates a rule of this version",
      );
      return null;
    }
    // An unpinned Cargo gets its pins with the approval.
    if (isOffUnpinned(read.file)) return null;
    const entry = withNumber(cargoOf(read.file), numbers);
    return cargo.isApproved || cargo.ownerId === null ? entry : unapproved(entry, cargo.ownerId);
  }

  function reportUnpinned(): void {
    const disabled = files.filter((file) => isOffUnpinned(file) && !cached.has(pinnedKey(file.slug)));
    if (disabled.length === 0) return;
    const offered = files.filter((file) => !disabled.includes(file));
    const text = `${describeDisabled(disabled, offered)}. To review and approve them: ${commandLine("cargo approve --all-shipped")}`;
    log.info({ count: disabled.length, of: files.length }, text);
  }

  function reportAliases(): void {
    for (const [alias, slug] of modelAliases) {
      if (catalog.known(alias) !== undefined)
        log.warn({ alias }, "model_aliases: this alias is ignored, because a Cargo has the same name");
      else if (catalog.known(slug) === undefined)
        log.warn({ alias, cargo: slug }, "model_aliases: the Cargo does not exist; requests for the alias get 404");
    }
  }

  await refresh();
  return {
    catalog,
    refresh,
    shippedFiles: files,
    isShipped: (slug: string): boolean => shipped.has(slug),
    /** Starts to poll. Calls `onChange` after an entry was added, removed or changed. */
    watch(onChange: (slug: string) => void): void {
      report = onChange;
      reportUnpinned();
      reportAliases();
      every({ clock, log, stop: stop.signal }, WATCH_EVERY_MS, "read the stored Cargos", refresh);
    },
    /** Stops polling. Resolves when no read is in progress. */
    async close(): Promise<void> {
      stop.abort();
      await refreshing.catch(() => undefined);
    },
  };
}

function pinnedKey(slug: string): string {
  return `pinned ${slug}`;
}

function withNumber(cargo: CatalogCargo, numbers: ReadonlyMap<string, NumberedCargo>): CatalogEntry {
  const known = numbers.get(cargo.slug);
  if (known === undefined) throw new Error(`The store gave ${cargo.slug} no number`);
  return { ...cargo, workloadId: known.number, createdAtMs: known.createdAtMs };
}

/** Returns an entry that is not approved: private to its owner, and without network access. */
function unapproved(entry: CatalogEntry, ownerId: string): CatalogEntry {
  const { container } = entry;
  return {
    ...entry,
    privateTo: ownerId,
    ...(container === undefined ? {} : { container: { ...container, network: false } }),
  };
}

/** Describes which kinds of models are missing or fewer while shipped Cargos are disabled. */
function describeDisabled(disabled: readonly CargoFile[], offered: readonly CargoFile[]): string {
  const here = new Set(offered.map(purposeOf));
  const purposes = [...new Set(disabled.map(purposeOf))].sort();
  const parts = [
    ["No Cargo is available for: ", purposes.filter((purpose) => !here.has(purpose))],
    ["Fewer are available for: ", purposes.filter((purpose) => here.has(purpose))],
  ] as const;
  const lacking = parts.flatMap(([label, some]) => (some.length === 0 ? [] : [`${label}${some.join(", ")}`]));
  return `${disabled.length} shipped Cargos are disabled until you approve their files. ${lacking.join(". ")}`;
}

/** Returns the operator's aliases, and the names that public SDKs use by default unless the operator uses them. */
export function withUsualAliases(
  own: ReadonlyMap<string, string>,
  defaults: Pick<DefaultSlugs, "chat">,
): ReadonlyMap<string, string> {
  const usual = { "llm-chat": defaults.chat, sdxl: "stable-diffusion-xl-base-1.0" };
  return new Map([...own, ...Object.entries(usual).filter(([name]) => !own.has(name))]);
}
