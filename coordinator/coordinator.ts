import { getHeapStatistics } from "node:v8";
import type { Logger } from "pino";
import type { Clock } from "../shared/clock.ts";
import { PUBLIC_KEY_HEADER } from "../shared/cargo-signature.ts";
import { SESSION_PATH } from "../shared/protocol/codec.ts";
import { newId } from "../shared/ids.ts";
import { urlHost } from "../shared/net/url-host.ts";
import { CargoService } from "./catalog/cargo-service.ts";
import { CatalogSync } from "./catalog/catalog-sync.ts";
import { closeInOrder } from "./close-in-order.ts";
import { NetworkClock } from "./cluster/network-clock.ts";
import { outputBudget } from "./quotas/output-budget.ts";
import { openNetwork } from "./cluster/open-network.ts";
import { openMember } from "./cluster/cluster-member.ts";
import { CredentialWatch } from "./cluster/credential-watch.ts";
import { openPeers } from "./cluster/peers.ts";
import { shareJobs } from "./cluster/shared-jobs.ts";
import { defaultSlugsOf } from "./config/default-cargo-settings.ts";
import { registrationOf } from "./config/exposure.ts";
import { memoryBudgets } from "./config/memory-settings.ts";
import { phaseLimitsOf, type CoordinatorConfig } from "./config/resolve-config.ts";
import { ConversationService } from "./conversations/conversation-service.ts";
import { AttemptFencing } from "./dispatch/attempt-fencing.ts";
import { AttemptProofs } from "./dispatch/attempt-proofs.ts";
import { Dispatcher } from "./dispatch/dispatcher.ts";
import { recoverJobs } from "./dispatch/recovery.ts";
import { WaitReasons, type WaitReasonsDeps } from "./dispatch/wait-reasons.ts";
import { AccountEvents } from "./events/account-events.ts";
import { watchChanges } from "./events/watch-changes.ts";
import { watchDeeds } from "./events/watch-deeds.ts";
import { createApp } from "./http/app.ts";
import { httpOptionsOf, servedFolders } from "./http/http-options.ts";
import { listen } from "./http/server/transport.ts";
import { CargoSigner } from "./islands/cargo-signer.ts";
import { IslandConnections } from "./islands/island-connections.ts";
import { IslandRegistry } from "./islands/island-registry.ts";
import { BatchGate } from "./jobs/batches/batch-gate.ts";
import { BatchService } from "./jobs/batches/batch-service.ts";
import { JobRegistry } from "./jobs/job-registry.ts";
import { JobService, type JobServiceDeps } from "./jobs/job-service.ts";
import { Submissions } from "./jobs/submissions.ts";
import { JobQuota } from "./quotas/job-quota.ts";
import { DailyStorage } from "./quotas/daily-storage.ts";
import { openAccounts } from "./open-accounts.ts";
import { openFileBatches } from "./open-file-batches.ts";
import { openFiles } from "./open-files.ts";
import { openGateway } from "./open-gateway.ts";
import { openHosts } from "./open-hosts.ts";
import { openOperators } from "./open-operators.ts";
import { openTelemetry } from "./open-telemetry.ts";
import { openWebhooks } from "./open-webhooks.ts";
import { Suspensions } from "./operators/suspensions.ts";
import { Recommender } from "./recommendations/recommend.ts";
import { Retention } from "./retention/retention.ts";
import { Scheduler, type SchedulerDeps } from "./scheduler/scheduler.ts";
import type { RemovalSubject } from "./store/jobs/content.ts";
import { untilRead, untilStored } from "./store/until-stored.ts";

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
  const { config, log, version, onFatal } = deps;
  // Before anything is opened: a configuration that cannot be is told at once.
  const registration = registrationOf(config);
  const networkClock = new NetworkClock(deps.clock);
  const { store, bus } = await openNetwork(config, { clock: networkClock, log });
  const { cluster, secrets } = store;
  const clock = cluster === null ? deps.clock : networkClock;
  const address =
    cluster === null ? config.publicUrl : (config.peerUrl ?? `http://${urlHost(config.host)}:${config.port}`);
  const selfId = cluster?.selfId ?? newId("coord", clock.now());
  const peers = openPeers({ id: selfId, address: address ?? "", version }, bus, { clock, log });
  const stored = <T>(step: () => T | Promise<T>): Promise<T> => untilStored(step, { clock, log });
  if (cluster !== null) await stored(() => networkClock.set(() => cluster.nowMs()));
  const { catalogDirectory: directory, modelAliases: aliases, commandLine, leaseMs, leaseRenewMs } = config;
  const [defaults, isShared] = [defaultSlugsOf(config), cluster !== null];
  const catalogDeps = { directory, store: store.catalog, defaults, aliases, isShared, commandLine, clock, log };
  const catalogSync = await stored(() => CatalogSync.open(catalogDeps));
  const { catalog } = catalogSync;
  const changes = cluster?.credentialChanges;
  const credentials = changes && new CredentialWatch(changes, peers, clock);
  const accounts = openAccounts({ config, registration, store: store.accounts, credentials, clock, log });
  const { chatShare, islandBackoffMs: firstPauseMs, priorityPrice, webhookAllowPrivate } = config;
  const cargoOf = (slug: string) => catalog.known(slug);
  const mayRunElsewhere: SchedulerDeps["mayRunElsewhere"] = (kind) => member?.mayRunElsewhere(kind) === true;
  const scheduler = new Scheduler({ cargos: cargoOf, chatShare, firstPauseMs, random: Math.random, mayRunElsewhere });
  const { islandGraceMs: graceMs, restartGraceMs, heartbeatMs, maxAttempts, networkFee } = config;
  const phaseLimits = phaseLimitsOf(config);
  const jobQuota = new JobQuota();
  const memory = memoryBudgets(config, getHeapStatistics().heap_size_limit);
  const webhooks = openWebhooks({ config, store, clock, log });
  const isNew = !(await stored(() => store.islands.hasAny()));
  const signer = await stored(() => CargoSigner.open({ secrets, isNew, log }));
  const dailyStorage = new DailyStorage(clock, config.accountDailyBytes);
  const registry = new JobRegistry({
    store,
    catalog,
    jobQuota,
    outputBudget: outputBudget(memory),
    dailyStorage,
    maxRunMs: config.maxRunMs,
    maxOutputBytes: memory.maxOutputBytes,
    clock,
    graceMs,
    restartGraceMs,
    maxAttempts,
    networkFee,
    phaseLimits,
    feedDelayMs: config.feedDelayMs,
    onWebhookDue: (id, accountId) => webhooks.add(id, accountId),
    couldReadersCome: (sinceMs) => member?.couldHearSince(sinceMs) ?? true,
    onFatal,
  });
  const limitOf = async (id: string) => (await untilRead(() => accounts.limits(id), clock)).concurrentJobs;
  const places = cluster?.places;
  const gate = new BatchGate({ jobs: registry, quota: jobQuota, places, clock, limitOf, onFatal });
  const submissions = new Submissions({ store, catalog, clock, webhookAllowPrivate, priorityPrice, dailyStorage });
  const explainWait: JobServiceDeps["explainWait"] = (job) => waitReasons.of(job);
  const { outputMemoryBytes } = memory;
  const shared =
    cluster && shareJobs(cluster, store.jobs, registry, peers, explainWait, outputMemoryBytes, { clock, log });
  const others = shared === null ? {} : { router: shared };
  const batches = new BatchService({ store, jobs: registry, submissions, gate, clock, ...others });
  const islands = new IslandRegistry({ clock, graceMs, restartGraceMs });
  const hasBus = config.busAddress !== null;
  const times = { leaseMs, leaseRenewMs, graceMs, restartGraceMs, clock, networkClock };
  const refreshCatalog = (): Promise<void> => catalogSync.refresh();
  const own = { store, jobs: registry, islands, batches, submissions, scheduler, refreshCatalog };
  const member = cluster && openMember(cluster, own, peers, { hasBus, log, ...times });
  const proofs = await stored(() => AttemptProofs.open(secrets));
  const elsewhere: WaitReasonsDeps["elsewhere"] = (kind) => member?.elsewhere(kind) ?? null;
  const waitReasons = new WaitReasons({ scheduler, islands, gate, clock, elsewhere });
  const dispatcher = new Dispatcher({ ...own, ...times, waitReasons, proofs, signer, log, others: member });
  const schedule: Dispatcher["schedule"] = (event) => dispatcher.schedule(event);
  const reports = new AttemptFencing({
    jobs: registry,
    islands,
    proofs,
    clock,
    measure: schedule,
    letDown: schedule,
    hasOtherIsland: (job) => dispatcher.hasOtherIsland(job),
    log,
    claims: member?.claims,
  });
  const suspensions = await stored(() => Suspensions.open({ store, credentials, clock, log }));
  const connections = new IslandConnections({
    store,
    registry: islands,
    reports,
    signer,
    catalog,
    clock,
    heartbeatMs,
    quarantineOf: (hostId) => scheduler.quarantineOf(hostId, clock.monotonicMs()),
    order: member?.sessions,
    suspended: suspensions,
  });
  const recovered = await recoverJobs(store, registry, islands);
  await batches.restore();
  await stored(() => member?.start());
  await webhooks.start();
  if (recovered.waiting + recovered.held > 0) log.info(recovered, "Restored unfinished jobs");
  catalogSync.watch((slug) => dispatcher.cargoChanged(slug));
  const tellOthers = (): Promise<void> | undefined => member?.tellCatalogChange();
  const cargos = new CargoService({ store: store.catalog, catalogSync, clock, tellOthers });
  const files = openFiles({ config, store, proofs, clock, log });
  const retention = new Retention({
    store,
    clock,
    log,
    periods: config,
    onlineIslands: () => islands.connectedIds(),
    endAccount: async (accountId) => {
      await fileBatches.removeAll(accountId); // First: they submit jobs.
      await (member === null ? registry.cancelAll(accountId) : member.endJobsOf(accountId));
      await Promise.all([cargos, files].map((service) => service.removeAll(accountId)));
    },
  });
  const removeContent = (kind: RemovalSubject["kind"]) => (id: string) => retention.remove({ kind, id });
  const jobs = new JobService({
    removeContent: removeContent("job"),
    store,
    jobs: registry,
    submissions,
    jobQuota,
    clock,
    explainWait,
    ...others,
  });
  const conversations = new ConversationService({
    store: store.conversations,
    catalog,
    jobs,
    clock,
    log,
    removeContent: removeContent("conversation"),
    isShared,
    waitMs: config.chatWaitMs,
    onFatal,
  });
  const answers = (): Promise<unknown> => conversations.resume();
  if (member === null) await answers();
  const steps = { webhooks: () => webhooks.takeOver(), answers, removals: () => retention.resume() };
  member?.share(dispatcher, steps);
  const recommendations = new Recommender({
    store,
    catalog,
    clock,
    networkFee,
    queuedDemand: () => member?.queuedDemand() ?? scheduler.queuedDemand(),
    holdersOf: (exceptId) => scheduler.holdersOf(exceptId),
    policyOf: (hostId) => islands.get(hostId)?.policy,
  });
  const gateway = openGateway({ config, connections, accounts, signer, memory, clock, log });
  credentials?.serve({ end: (credential) => gateway.endSessionsOf(credential), open: () => gateway.openTokens() });
  const about = { config, version, clock, log, peers, member, credentials, catalogSync };
  const fileBatches = openFileBatches({ ...about, memory, store, files, jobs, catalog });
  const events = new AccountEvents(clock);
  watchChanges(events, { ...own, dispatcher }, clock);
  watchDeeds(events, store, clock);
  member?.shareEvents(events);
  const hosts = openHosts({ ...own, ...about, catalog, suspended: suspensions, events });
  const operators = openOperators({ ...own, ...about, explainWait, suspensions, gateway, hosts: hosts.service });
  const { metrics, tracing } = await openTelemetry({ ...own, ...about, gateway, webhooks, files, fileBatches });
  const app = createApp({
    metrics,
    tracing,
    jobs,
    batches,
    accounts,
    catalog,
    cargos,
    conversations,
    fileBatches,
    files,
    recommendations,
    islands: hosts.service,
    availability: hosts.availability,
    events,
    islandSessions: gateway,
    operators,
    suspensions,
    retention,
    store,
    bus: hasBus ? bus : null,
    quota: member?.quota,
    credentials,
    clock,
    log,
    version,
    ...servedFolders(config),
    options: httpOptionsOf(config, memory),
  });
  retention.start();
  const listener = await listen((request, env) => app.fetch(request, env), {
    host: config.host,
    port: config.port,
    transport: config.transport,
    transportModule: config.transportModule,
  });
  // Refusals carry the key too: an Island that joins pins it before it sends its token.
  listener.onUpgrade(SESSION_PATH, (request) => gateway.upgrade(request), { [PUBLIC_KEY_HEADER]: signer.publicKey });
  const url = `http://${urlHost(config.host)}:${listener.port}`;
  if (cluster !== null) peers.setAddress(config.peerUrl ?? url);
  return {
    url,
    close: () =>
      closeInOrder({
        ...about,
        storageMayBeAway: cluster !== null,
        accounts,
        bus,
        conversations,
        dispatcher,
        events,
        fileBatches,
        files,
        gate,
        gateway,
        hosts,
        islands,
        listener,
        registry,
        retention,
        shared,
        store,
        suspensions,
        tracing,
        webhooks,
      }),
  };
}
