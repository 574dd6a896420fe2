import { cacheKeyOf, imageReference, type RuntimeType } from "../../shared/cargo.ts";
import { ServiceError } from "../../shared/errors.ts";
import { totalVramBytes } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { Env } from "../env.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { formatCredits } from "../credits/micro-credits.ts";
import { RUNTIMES } from "../catalog/runtimes.ts";
import { earnedOf } from "../credits/settle.ts";
import { fits } from "../scheduler/fit.ts";
import type { IslandRecord } from "../store/islands.ts";
import type { Store } from "../store/store.ts";

/** Time within which completions count as recent. */
const RECENT_MS = 3_600_000;
const MAX_RECOMMENDATIONS = 20;

/** Cargo whose files an Island should download. */
export interface Recommendation {
  readonly slug: string;
  /** URL as in the catalog; `/models/…` is a path on the coordinator. For a container, the reference of its image. */
  readonly modelUrl: string;
  readonly modelHash: string | null;
  readonly runtimeType: RuntimeType;
  /** Credits for the Island's owner, as a decimal number without exponent: "0.9". */
  readonly estimatedEarningsPerJob: string;
  readonly queuedDemand: number;
  readonly demandScore: number;
  /** Whether it is the Cargo of chats without a model, which is useful before it has any demand. */
  readonly isDefault: boolean;
}

interface CargoDemand {
  readonly slug: string;
  readonly queued: number;
  /** Number of jobs completed in the last hour. */
  readonly recentCompletions: number;
  /** Number of other online Islands that have its model or image. */
  readonly holders: number;
  /** Whether it is the Cargo of chats without a model. */
  readonly isDefault: boolean;
}

interface Candidate extends CargoDemand {
  readonly cargo: CatalogEntry;
  readonly fetch: { readonly url: string; readonly hash: string | null };
}

/**
 * Recommends the Cargos that an Island should have on disk. Source: spec §4.
 * @param queuedDemand Number of waiting jobs, by slug.
 * @param holdersOf Number of online Islands, without `exceptId`, that have a model or image, by cache key.
 * @param policyOf What the owner of an Island allows; undefined for an Island that is not online, or says nothing.
 */
export function cargoRecommender(
  { config, clock }: Env<"networkFee">,
  store: {
    readonly islands: Pick<Store["islands"], "get">;
    readonly jobs: Pick<Store["jobs"], "completionsSince">;
  },
  catalog: Pick<Catalog, "list" | "defaultChatSlug">,
  queuedDemand: () => ReadonlyMap<string, number>,
  holdersOf: (exceptId: string) => (cacheKey: string) => number,
  policyOf: (hostId: string) => OwnerPolicy | undefined,
) {
  /**
   * Returns the best Cargos for an Island by its last report, highest demand first, at most {@link MAX_RECOMMENDATIONS}. The order depends
   * on what the other Islands have, not on what this one has.
   * @throws {ServiceError} `not_found` for an unknown host id
   */
  return async (hostId: string): Promise<Recommendation[]> => {
    const island = await store.islands.get(hostId);
    if (island === undefined) throw new ServiceError("not_found", `There is no Island ${hostId}`);
    const completions = await store.jobs.completionsSince(clock.now() - RECENT_MS);
    const queued = queuedDemand();
    const policy = policyOf(hostId);
    const holders = holdersOf(hostId);
    const candidates = catalog.list().flatMap((cargo): Candidate[] => {
      const { slug } = cargo;
      const fetch = fetchedBy(cargo);
      const cacheKey = cacheKeyOf(cargo);
      if (fetch === null || cacheKey === null || !isServable(cargo, island, policy)) return [];
      const demand = { queued: queued.get(slug) ?? 0, recentCompletions: completions.get(slug) ?? 0 };
      const isDefault = slug === catalog.defaultChatSlug;
      return [{ slug, cargo, fetch, ...demand, holders: holders(cacheKey), isDefault }];
    });
    return rankCargos(candidates)
      .slice(0, MAX_RECOMMENDATIONS)
      .map(({ slug, cargo, fetch, queued: queuedJobs, demandScore: score, isDefault }) => ({
        slug,
        modelUrl: fetch.url,
        modelHash: fetch.hash,
        runtimeType: cargo.runtimeType,
        estimatedEarningsPerJob: formatCredits(earnedOf(cargo.priceMicro, config.networkFee)),
        queuedDemand: queuedJobs,
        demandScore: score,
        isDefault,
      }));
  };
}

/** Returns what an Island must download for the Cargo: its model, or its image by reference. */
function fetchedBy({ model, container }: CatalogEntry): Candidate["fetch"] | null {
  if (model !== null) return { url: model.url, hash: model.sha256 };
  if (container === undefined) return null;
  return { url: imageReference(container), hash: container.digest?.replace(/^sha256:/, "") ?? null };
}

function isServable(cargo: CatalogEntry, island: IslandRecord, policy: OwnerPolicy | undefined): boolean {
  if (!RUNTIMES[cargo.runtimeType].isRecommended) return false;
  const offer = {
    accountId: island.accountId,
    runtimes: island.runtimes.map((runtime) => runtime.type),
    ramBytes: island.hardware.ramBytes,
    vramBytes: totalVramBytes(island.hardware),
    // A draining Island may accept jobs again before the download is done.
    draining: false,
    policy,
  };
  return fits({ ...cargo, onlyIslandsOf: null }, offer) === true;
}

/** Weights: spec §2. The spec leaves the period of `recentCompletions` open; an hour is our choice. */
export function demandScore({ queued, recentCompletions }: Pick<CargoDemand, "queued" | "recentCompletions">): number {
  return queued * 10 + recentCompletions * 2;
}

/**
 * Sorts by demand, highest first. At equal scores the default Cargo comes first, then the one that fewer Islands have, so that rare Cargos
 * spread. The slug decides last, so that the order is stable.
 */
export function rankCargos<T extends CargoDemand>(demands: readonly T[]): (T & { readonly demandScore: number })[] {
  return demands
    .map((demand) => ({ ...demand, demandScore: demandScore(demand) }))
    .sort(
      (a, b) =>
        b.demandScore - a.demandScore ||
        Number(b.isDefault) - Number(a.isDefault) ||
        a.holders - b.holders ||
        compareSlugs(a.slug, b.slug),
    );
}

function compareSlugs(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
