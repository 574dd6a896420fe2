import { cacheKeyOf, imageReference, type RuntimeType } from "../../shared/cargo.ts";
import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { totalVramBytes } from "../../shared/hardware.ts";
import type { OwnerPolicy } from "../../shared/owner-policy.ts";
import type { Catalog, CatalogEntry } from "../catalog/catalog.ts";
import { formatCredits } from "../credits/micro-credits.ts";
import { RUNTIMES } from "../catalog/runtimes.ts";
import { earnedOf } from "../credits/settle.ts";
import { fits } from "../scheduler/fit.ts";
import type { IslandRecord } from "../store/islands.ts";
import type { Store } from "../store/store.ts";
import { rankCargos, type CargoDemand } from "./rank.ts";

/** Completions within this time count as recent. */
const RECENT_MS = 3_600_000;
export const MAX_RECOMMENDATIONS = 20;

/** A Cargo whose files an Island should download. */
export interface Recommendation {
  readonly slug: string;
  /** As in the catalog; `/models/…` is a path on the coordinator. For a container, the reference of its image. */
  readonly modelUrl: string;
  readonly modelHash: string | null;
  readonly runtimeType: RuntimeType;
  /** Credits for the Island's owner, as a decimal number without exponent: "0.9". */
  readonly estimatedEarningsPerJob: string;
  readonly queuedDemand: number;
  readonly demandScore: number;
  /** The Cargo of chats without a model: worth having although nobody has asked for it yet. */
  readonly isDefault: boolean;
}

export interface RecommenderOptions {
  readonly store: {
    readonly islands: Pick<Store["islands"], "get">;
    readonly jobs: Pick<Store["jobs"], "completionsSince">;
  };
  readonly catalog: Pick<Catalog, "list" | "defaultChatSlug">;
  /** Number of waiting jobs, by slug. */
  readonly queuedDemand: () => ReadonlyMap<string, number>;
  /** Number of online Islands, without `exceptId`, that have a model or image, by cache key. */
  readonly holdersOf: (exceptId: string) => (cacheKey: string) => number;
  /** What the owner of an Island allows; undefined for an Island that is not online, or says nothing. */
  readonly policyOf: (hostId: string) => OwnerPolicy | undefined;
  /** Share of a price that the network keeps, 0 to 1. */
  readonly networkFee: number;
  readonly clock: Pick<Clock, "now">;
}

interface Candidate extends CargoDemand {
  readonly cargo: CatalogEntry;
  readonly fetch: { readonly url: string; readonly hash: string | null };
}

/** Recommends the Cargos that an Island should have on disk. Source: spec §4, DESIGN §4 row Recommendations. */
export class Recommender {
  readonly #options: RecommenderOptions;

  constructor(options: RecommenderOptions) {
    this.#options = options;
  }

  /**
   * The best Cargos for an Island by its last report, highest demand first, at most {@link MAX_RECOMMENDATIONS}. What the Island has
   * itself does not change the order; what the other Islands have does.
   * @throws {ServiceError} `not_found` for an unknown host id.
   */
  async recommend(hostId: string): Promise<Recommendation[]> {
    const { store, catalog, clock } = this.#options;
    const island = await store.islands.get(hostId);
    if (island === undefined) throw new ServiceError("not_found", `There is no Island ${hostId}`);
    const completions = await store.jobs.completionsSince(clock.now() - RECENT_MS);
    const queued = this.#options.queuedDemand();
    const policy = this.#options.policyOf(hostId);
    const holders = this.#options.holdersOf(hostId);
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
      .map(({ slug, cargo, fetch, queued: queuedDemand, demandScore, isDefault }) => ({
        slug,
        modelUrl: fetch.url,
        modelHash: fetch.hash,
        runtimeType: cargo.runtimeType,
        estimatedEarningsPerJob: formatCredits(earnedOf(cargo.priceMicro, this.#options.networkFee)),
        queuedDemand,
        demandScore,
        isDefault,
      }));
  }
}

/** What an Island must download for the Cargo: its model, or its image by reference. */
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
    // A draining Island may be back before the download is done.
    draining: false,
    policy,
  };
  return fits({ ...cargo, onlyIslandsOf: null }, offer) === true;
}
