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
import type { Scheduler } from "../scheduler/scheduler.ts";
import type { IslandRecord } from "../store/islands.ts";
import type { Store } from "../store/store.ts";

/** Period whose completions count as recent. */
const RECENT_MS = 3_600_000;
const MAX_RECOMMENDATIONS = 20;

/** A Cargo that an Island should have on disk. */
export interface Recommendation {
  readonly slug: string;
  /** Model URL, where `/models/…` is a path on the coordinator; for a container, the reference of its image. */
  readonly modelUrl: string;
  /** SHA-256 in hex of the model, or digest of the image; null if the Cargo is not pinned. */
  readonly modelHash: string | null;
  readonly runtimeType: RuntimeType;
  /** Credits per job for the Island's owner, as a decimal number without exponent: "0.9". */
  readonly estimatedEarningsPerJob: string;
  readonly queuedDemand: number;
  readonly demandScore: number;
  /** Whether chats that name no model use the Cargo, which makes it useful before there is demand. */
  readonly isDefault: boolean;
}

interface CargoDemand extends Pick<Recommendation, "slug" | "queuedDemand" | "isDefault"> {
  /** Number of jobs completed in the last hour. */
  readonly recentCompletions: number;
  /** Expected cost in ms of a job without this Island; see `Scheduler.costWithout`. */
  readonly costWithoutMs: number;
  /** Number of other online Islands that have the Cargo's model or image. */
  readonly holders: number;
}

/** Returns a function that recommends the Cargos that an Island should have on disk. Source: spec §4. */
export function cargoRecommender(
  { config, clock }: Env<"networkFee">,
  store: {
    readonly islands: Pick<Store["islands"], "get">;
    readonly jobs: Pick<Store["jobs"], "completionsSince">;
  },
  catalog: Pick<Catalog, "list" | "defaultChatSlug">,
  queuedDemand: () => ReadonlyMap<string, number>,
  scheduler: Pick<Scheduler, "costWithout" | "holdersOf">,
  policyOf: (hostId: string) => OwnerPolicy | undefined,
) {
  /**
   * Returns the best Cargos for an Island by its last report, highest demand first.
   * @throws {ServiceError} `not_found` for an unknown host id
   */
  return async (hostId: string): Promise<Recommendation[]> => {
    const island = await store.islands.get(hostId);
    if (island === undefined) throw new ServiceError("not_found", `There is no Island ${hostId}`);
    const completions = await store.jobs.completionsSince(clock.now() - RECENT_MS);
    const queued = queuedDemand();
    const policy = policyOf(hostId);
    const holders = scheduler.holdersOf(hostId);
    const candidates = catalog.list().flatMap((cargo) => {
      const { slug, runtimeType, priceMicro } = cargo;
      const download = downloadOf(cargo);
      const cacheKey = cacheKeyOf(cargo);
      if (download === null || cacheKey === null || !isServable(cargo, island, policy)) return [];
      const candidate = {
        slug,
        ...download,
        runtimeType,
        estimatedEarningsPerJob: formatCredits(earnedOf(priceMicro, config.networkFee)),
        queuedDemand: queued.get(slug) ?? 0,
        isDefault: slug === catalog.defaultChatSlug,
        recentCompletions: completions.get(slug) ?? 0,
        costWithoutMs: scheduler.costWithout(hostId, slug),
        holders: holders(cacheKey),
      };
      return [candidate];
    });
    return rankCargos(candidates)
      .slice(0, MAX_RECOMMENDATIONS)
      .map((candidate): Recommendation => {
        const { recentCompletions: _, costWithoutMs: __, holders: ___, ...recommendation } = candidate;
        return recommendation;
      });
  };
}

/** Returns what an Island downloads for the Cargo: its model, or its image by reference; null if it needs neither. */
function downloadOf({ model, container }: CatalogEntry): Pick<Recommendation, "modelUrl" | "modelHash"> | null {
  if (model !== null) return { modelUrl: model.url, modelHash: model.sha256 };
  if (container === undefined) return null;
  return { modelUrl: imageReference(container), modelHash: container.digest?.replace(/^sha256:/, "") ?? null };
}

function isServable(cargo: CatalogEntry, island: IslandRecord, policy: OwnerPolicy | undefined): boolean {
  if (!RUNTIMES[cargo.runtimeType].isRecommended) return false;
  const offer = {
    accountId: island.accountId,
    runtimes: island.runtimes.map((runtime) => runtime.type),
    ramBytes: island.hardware.ramBytes,
    vramBytes: totalVramBytes(island.hardware),
    // A draining Island counts: it may accept jobs again before the download ends.
    draining: false,
    policy,
  };
  return fits({ ...cargo, onlyIslandsOf: null }, offer) === true;
}

/** Returns the score of a demand with the weights of spec §2, which leaves the period of `recentCompletions` open. */
export function demandScore(demand: Pick<CargoDemand, "queuedDemand" | "recentCompletions">): number {
  return demand.queuedDemand * 10 + demand.recentCompletions * 2;
}

/**
 * Sorts by demand. Of equal demands, the default Cargo is first, then the Cargo whose jobs would finish latest without
 * the Island, then the one that fewer Islands have.
 */
export function rankCargos<T extends CargoDemand>(demands: readonly T[]): (T & { readonly demandScore: number })[] {
  return demands
    .map((demand) => ({ ...demand, demandScore: demandScore(demand) }))
    .sort(
      (a, b) =>
        b.demandScore - a.demandScore ||
        Number(b.isDefault) - Number(a.isDefault) ||
        // Infinity minus Infinity is NaN.
        (a.costWithoutMs === b.costWithoutMs ? 0 : b.costWithoutMs - a.costWithoutMs) ||
        a.holders - b.holders ||
        (a.slug < b.slug ? -1 : 1),
    );
}
