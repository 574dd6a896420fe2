import type { IncomingMessage } from "node:http";
import { getHeapStatistics } from "node:v8";
import type { Logger } from "pino";
import type { Clock } from "../shared/clock.ts";
import { PUBLIC_KEY_HEADER } from "../shared/cargo-signature.ts";
import { SESSION_PATH } from "../shared/protocol/codec.ts";
import { CloseLimit } from "../shared/async/close-limit.ts";
import { urlHost } from "../shared/net/url-host.ts";
import { openAccounts } from "./accounts/accounts.ts";
import { openCargos } from "./catalog/cargo-service.ts";
import { openCatalog } from "./catalog/catalog-sync.ts";
import { openNetwork } from "./cluster/open-network.ts";
import { openMember } from "./cluster/cluster-member.ts";
import { shareJobs } from "./cluster/shared-jobs.ts";
import { registrationOf } from "./config/exposure.ts";
import { memoryBudgets } from "./config/memory-settings.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { openConversations } from "./conversations/conversations.ts";
import { openAssignments } from "./dispatch/assignments.ts";
import { openAttemptFencing } from "./dispatch/attempt-fencing.ts";
import { openAttemptProofs } from "./dispatch/attempt-proofs.ts";
import { openDispatcher } from "./dispatch/dispatcher.ts";
import { recoverJobs } from "./dispatch/recovery.ts";
import { openWaitReasons } from "./dispatch/wait-reasons.ts";
import { accountEvents } from "./events/account-events.ts";
import { watchChanges } from "./events/watch-changes.ts";
import { watchDeeds } from "./events/watch-deeds.ts";
import { openBatches } from "./dialects/batches/open-batches.ts";
import { dialects, lineEndpoints } from "./dialects/dialects.ts";
import { openFiles } from "./files/open-files.ts";
import { createApp } from "./http/app.ts";
import { webhookPayload } from "./http/schemas/webhook-payload.ts";
import { httpOptionsOf, servedFolders } from "./http/http-options.ts";
import { clientAddress } from "./http/server/client-address.ts";
import { listen } from "./http/server/transport.ts";
import { openCargoSigner } from "./islands/cargo-signer.ts";
import { openIslandGateway } from "./islands/gateway.ts";
import { islandConnections } from "./islands/island-connections.ts";
import { IslandRegistry } from "./islands/island-registry.ts";
import { openBatchGate } from "./jobs/batches/batch-gate.ts";
import { openBatchService } from "./jobs/batches/batch-service.ts";
import type { ActiveJob } from "./jobs/active-job.ts";
import { JobRegistry } from "./jobs/job-registry.ts";
import type { JobWaiting } from "./jobs/job-waiting.ts";
import { openJobService } from "./jobs/job-service.ts";
import { openSubmissions } from "./jobs/submissions.ts";
import { JobQuota } from "./quotas/job-quota.ts";
import { dailyStorage } from "./quotas/daily-storage.ts";
import { MAX_CLOSE_MS, Parts } from "./parts.ts";
import { openHosts } from "./open-hosts.ts";
import { openOperators } from "./open-operators.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { openSuspensions } from "./operators/suspensions.ts";
import { cargoRecommender } from "./recommendations/recommend.ts";
import { openRetention } from "./retention/retention.ts";
import { Scheduler } from "./scheduler/scheduler.ts";
import type { WorkKind } from "./scheduler/slot-offer.ts";
import type { RemovalSubject } from "./store/jobs/content.ts";
import { untilRead, untilStored } from "./store/until-stored.ts";
import { openWebhooks } from "./webhooks/webhook-sender.ts";

/** Islands reconnect this long after an orderly stop of the coordinator. */
const RETURN_AFTER_MS = 1_000;

export interface CoordinatorDeps {
  readonly config: CoordinatorConfig;
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** The coordinator cannot go on; the process must end and start again from storage. */
  readonly onFatal: (error: unknown) => void;
}

export interface Coordinator {
  /** `http://host:port` of the listener. */
  readonly url: string;
  /** Stops accepting, sends the Islands away for a moment, lets answers end, then closes storage. */
  close(): Promise<void>;
}

/** Opens storage, restores unfinished jobs, then lets Islands and clients in. */
export async function openCoordinator(deps: CoordinatorDeps): Promise<Coordinator> {
  const { config, log, version } = deps;
  // Before anything is opened: a configuration that cannot be is told at once.
  const registration = registrationOf(config);
  await using parts = new Parts(deps.clock);
  const network = await openNetwork(deps);
  parts.add({ close: () => network.close() });
  const { store, peers, clock, cluster, credentials, isShared } = network;
  const { secrets } = store;
  const env = { ...deps, clock };
  const stored = <T>(step: () => T | Promise<T>): Promise<T> => untilStored(step, { clock, log });
  const catalogSync = await stored(() => openCatalog(env, store.catalog, isShared));
  const { catalog } = catalogSync;
  parts.add(catalogSync);
  const accounts = openAccounts({ config, clock, log }, store.accounts, registration, credentials);
  parts.add({ close: () => accounts.settled() });
  const { chatShare, islandBackoffMs: firstPauseMs } = config;
  const cargoOf = (slug: string) => catalog.known(slug);
  const mayRunElsewhere = (kind: WorkKind): boolean => member.mayRunElsewhere(kind);
  const scheduler = new Scheduler(cargoOf, chatShare, firstPauseMs, Math.random, mayRunElsewhere);
  const jobQuota = new JobQuota();
  const memory = memoryBudgets(config, getHeapStatistics().heap_size_limit);
  const webhooks = openWebhooks({ config, clock, log }, store.webhooks, webhookPayload(store));
  const isNew = !(await stored(() => store.islands.hasAny()));
  const signer = await stored(() => openCargoSigner(env, secrets, isNew));
  const storage = dailyStorage(clock, config.accountDailyBytes);
  const registry = new JobRegistry(
    env,
    store,
    catalog,
    jobQuota,
    storage,
    memory,
    (id, accountId) => webhooks.add(id, accountId),
    (sinceMs) => member.couldHearSince(sinceMs),
  );
  const limitOf = async (id: string) => (await untilRead(() => accounts.limits(id), clock)).concurrentJobs;
  const gate = openBatchGate(env, registry, jobQuota, limitOf, store.cluster?.places ?? null);
  const submissions = openSubmissions(env, store, catalog, storage);
  const explainWait = (job: ActiveJob): JobWaiting | null => waitReasons(job);
  const { outputMemoryBytes } = memory;
  const router = parts.add(shareJobs(cluster, store.jobs, registry, peers, explainWait, outputMemoryBytes, env));
  const batches = openBatchService(clock, store, registry, submissions, gate, router);
  const islands = new IslandRegistry(env);
  const refreshCatalog = (): Promise<void> => catalogSync.refresh();
  const own = { store, jobs: registry, islands, batches, submissions, scheduler, refreshCatalog };
  const member = openMember(env, network, own);
  parts.add({ close: () => member.leave() });
  const proofs = await stored(() => openAttemptProofs(secrets));
  const waitReasons = openWaitReasons(clock, scheduler, islands, gate, (kind) => member.elsewhere(kind));
  const assign = openAssignments(clock, store, registry, islands, proofs, signer);
  const outlooks = (kind: WorkKind) => member.outlooksFor(kind);
  const dispatcher = openDispatcher(env, scheduler, registry, islands, assign, waitReasons, outlooks);
  const reports = openAttemptFencing(env, registry, islands, proofs, dispatcher, member.claims);
  const suspensions = await stored(() => openSuspensions(env, store, credentials));
  parts.add(suspensions);
  const connections = islandConnections(
    env,
    store,
    islands,
    reports,
    signer,
    catalog,
    (hostId) => scheduler.quarantineOf(hostId, clock.monotonicMs()),
    suspensions.reasonFor,
    member.sessions,
  );
  parts.add({
    close() {
      for (const part of [registry, dispatcher, islands, gate]) part.close();
    },
  });
  const recovered = await recoverJobs(store, registry, islands);
  await batches.restore();
  await stored(() => member.start());
  await webhooks.start();
  parts.add(webhooks);
  if (recovered.waiting + recovered.held > 0) log.info(recovered, "Restored unfinished jobs");
  catalogSync.watch((slug) => dispatcher.cargoChanged(slug));
  const tellOthers = (): Promise<void> => member.tellCatalogChange();
  const cargos = openCargos(env, store.catalog, catalogSync, tellOthers);
  const files = openFiles(env, store, proofs);
  files.start();
  parts.add(files);
  const endAccount = async (accountId: string): Promise<void> => {
    await fileBatches.removeAll(accountId); // First: they submit jobs.
    await member.endJobsOf(accountId);
    await Promise.all([cargos, files].map((service) => service.removeAll(accountId)));
  };
  const retention = openRetention(
    env,
    store,
    () => [...islands.connected()].map(({ island }) => island.hostId),
    endAccount,
  );
  parts.add(retention);
  const removeContent = (kind: RemovalSubject["kind"]) => (id: string) => retention.remove({ kind, id });
  const jobs = openJobService(clock, store, registry, submissions, router, explainWait, removeContent("job"));
  const removeOf = removeContent("conversation");
  const conversations = openConversations(env, store.conversations, jobs, catalog, removeOf);
  // Before connections close: answers in progress are then resumed at the next start, not cancelled.
  parts.add({ drain: () => conversations.close() });
  const answers = (): Promise<unknown> => conversations.resume();
  if (!isShared) await answers();
  const steps = { webhooks: () => webhooks.takeOver(), answers, removals: () => retention.resume() };
  member.share(dispatcher, steps);
  parts.add({ close: () => member.closeTakeOver() });
  const recommend = cargoRecommender(
    env,
    store,
    catalog,
    () => member.queuedDemand(),
    (exceptId) => scheduler.holdersOf(exceptId),
    (hostId) => islands.get(hostId)?.policy,
  );
  const addressOf = (request: IncomingMessage): string => clientAddress(request, config);
  const gateway = openIslandGateway(env, connections, accounts, signer.publicKey, memory, addressOf);
  credentials.serve({ end: (credential) => gateway.endSessionsOf(credential), open: () => gateway.openTokens() });
  const about = { ...env, peers, member, credentials, catalogSync };
  const fileBatches = openBatches(env, store, files, jobs, catalog, lineEndpoints);
  fileBatches.start();
  parts.add({ drain: (limit) => limit.within(fileBatches.close()) });
  const events = accountEvents(clock);
  parts.add({ drain: () => events.close() });
  watchChanges(events, clock, registry, islands, (listener) => dispatcher.onQuarantine(listener));
  watchDeeds(events, store, clock);
  member.shareEvents(events);
  const hosts = openHosts({ ...own, ...about, catalog, suspensions, events });
  parts.add(hosts.figures);
  const operators = openOperators({ ...own, ...about, explainWait, suspensions, gateway });
  const { metrics, tracing } = await openTelemetry({
    ...own,
    ...about,
    member: isShared ? member : null,
    gateway,
    webhooks,
    files,
    fileBatches,
  });
  if (tracing !== null) parts.add(tracing);
  const app = createApp(
    {
      metrics,
      tracing,
      jobs,
      batches,
      accounts,
      catalog,
      cargos,
      conversations,
      files,
      recommend,
      islands: hosts.service,
      availability: hosts.availability,
      events,
      islandSessions: gateway,
      operators,
      suspensions,
      retention,
      store,
      bus: config.busAddress === null ? null : network.bus,
      quota: member.quota,
      credentials,
      clock,
      log,
      version,
      ...servedFolders(config),
      options: httpOptionsOf(config, memory),
    },
    dialects(fileBatches),
  );
  retention.start();
  const listener = await listen((request, bindings) => app.fetch(request, bindings), {
    host: config.host,
    port: config.port,
    transport: config.transport,
    transportModule: config.transportModule,
  });
  // Refusals carry the key too: an Island that joins pins it before it sends its token.
  listener.onUpgrade(SESSION_PATH, (request) => gateway.upgrade(request), { [PUBLIC_KEY_HEADER]: signer.publicKey });
  parts.add({
    async drain(limit) {
      // Cut chats are cancelled, like those whose client leaves. This comes first, while storage and Islands still work.
      await listener.finishAnswers(limit.signal);
      // While storage cannot be written, the end of a job may never become durable: it is restored at the next start.
      await limit.within(registry.settled());
      const moves = new CloseLimit(clock, MAX_CLOSE_MS);
      await gateway.close(RETURN_AFTER_MS, await member.handOver(moves.signal));
      moves.end();
      await listener.close(limit.signal);
    },
  });
  const url = `http://${urlHost(config.host)}:${listener.port}`;
  network.setUrl(url);
  return { url, close: parts.release(isShared ? MAX_CLOSE_MS : null) };
}
