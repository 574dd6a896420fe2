import type { Auditor } from "./audits/auditor.ts";
import type { Standings } from "./audits/standings.ts";
import type { CatalogSync } from "./catalog/catalog-sync.ts";
import { resolvePins } from "./catalog/pin-lookup/resolve-pins.ts";
import type { Network } from "./cluster/open-network.ts";
import { describeConfig, type CoordinatorConfig } from "./config/resolve-config.ts";
import type { Core } from "./core.ts";
import type { Env } from "./env.ts";
import { liveIsland } from "./islands/live-island.ts";
import type { IslandGateway } from "./islands/gateway.ts";
import type { IslandRegistry } from "./islands/island-registry.ts";
import { SUSPENDED_RETRY_MS } from "./islands/island-connections.ts";
import { remoteModels } from "./operators/add-model.ts";
import { openAnnouncements } from "./operators/announcements.ts";
import { auditTrail } from "./operators/audit-trail.ts";
import { coordinatorMetrics } from "./operators/coordinator-metrics.ts";
import type { IslandWork } from "./operators/island-work.ts";
import { networkView } from "./operators/network-view.ts";
import { operatorAccounts } from "./operators/operator-accounts.ts";
import { operatorAudits } from "./operators/operator-audits.ts";
import { operatorCargos } from "./operators/operator-cargos.ts";
import { operatorIslands } from "./operators/operator-islands.ts";
import { operatorStandings } from "./operators/operator-standings.ts";
import { settingsInForce, type Operators } from "./operators/operators.ts";
import type { Suspensions } from "./operators/suspensions.ts";

/** Time limit of all requests to registry and hub for one look-up. */
const LOOKUP_LIMIT_MS = 15_000;

/**
 * Opens the services of operators, and ends jobs and sessions of suspended accounts. Must be called before the first
 * Island is accepted.
 */
export function openOperators(
  env: Env<keyof CoordinatorConfig>,
  { peers, credentials, store }: Pick<Network, "credentials" | "peers" | "store">,
  core: Core,
  work: IslandWork,
  catalogSync: CatalogSync,
  suspensions: Suspensions,
  standings: Standings,
  auditor: Auditor,
  gateway: IslandGateway,
): Operators {
  const { config, clock } = env;
  const { jobs, islands, member } = core;
  endSuspended(env, core, suspensions, gateway);
  const trail = auditTrail(store.audit, clock);
  const isQuarantined = (hostId: string): boolean => core.quarantineOf(hostId) !== null;
  const metrics = coordinatorMetrics(jobs, islands, core.explainWait, work, clock);
  const liveHere = (hostIds: readonly string[]) =>
    islands.factsOf(hostIds).map((island) => liveIsland(island, { isQuarantined, jobs }));
  const view = networkView(metrics, liveHere, store, peers, clock);
  const onChanged = async (): Promise<void> => {
    credentials.changed();
    await suspensions.changed();
  };
  const policy = { hub: config.hubUrl, allowPrivate: false, catalogDirectory: config.catalogDirectory };
  const cargos = operatorCargos(
    store.catalog,
    catalogSync.shippedFiles,
    trail,
    clock,
    (file, given) => resolvePins(file, given, policy, AbortSignal.timeout(LOOKUP_LIMIT_MS)),
    async () => void (await Promise.all([catalogSync.refresh(), member.announceCatalogChange()])),
  );
  const isCargo = (slug: string): boolean => catalogSync.catalog.known(slug) !== undefined;
  return {
    network: view,
    accounts: operatorAccounts(store, trail, clock, onChanged),
    islands: operatorIslands(store, trail, clock, onChanged, view.live),
    audits: operatorAudits(store, trail, auditor),
    standings: operatorStandings(store, trail, clock, isCargo, standings.note),
    jobs: store.operators,
    cargos,
    models: remoteModels(store, cargos, config, clock),
    announcements: openAnnouncements(store, trail, clock),
    audit: store.audit,
    settings: settingsInForce(describeConfig(), config.inForce),
  };
}

function endSuspended({ log }: Env, { islands, jobs }: Core, suspensions: Suspensions, gateway: IslandGateway): void {
  suspensions.onAccounts((accountIds) => {
    for (const hostId of islands.connectedOf(accountIds)) disconnect(islands, suspensions, hostId);
    gateway.endSessionsOfAccounts(accountIds);
    const withJobs = new Set([...jobs.list()].map(({ accountId }) => accountId).filter((id) => accountIds.has(id)));
    for (const account_id of withJobs) {
      jobs.cancelAll(account_id).catch((error: unknown) => {
        log.error({ err: error, account_id }, "Could not cancel the jobs of a suspended account; they may continue");
      });
    }
  });
  suspensions.onIslands((hostIds) => {
    for (const hostId of hostIds) disconnect(islands, suspensions, hostId);
  });
}

function disconnect(islands: IslandRegistry, suspensions: Suspensions, hostId: string): void {
  const reason = suspensions.reasonFor(hostId, islands.get(hostId)?.accountId ?? "");
  if (reason === null) return;
  islands.dismiss(hostId, { reason, retryAfterMs: SUSPENDED_RETRY_MS, message: "The operator suspended the Island" });
}
