import { getHeapStatistics } from "node:v8";
import { CloseLimit } from "../shared/async/close-limit.ts";
import { PUBLIC_KEY_HEADER } from "../shared/cargo-signature.ts";
import { urlHost } from "../shared/net/url-host.ts";
import { SESSION_PATH } from "../shared/protocol/codec.ts";
import { openAccounts } from "./accounts/accounts.ts";
import { openAuditor } from "./audits/auditor.ts";
import { openStandings } from "./audits/standings.ts";
import { openCargos } from "./catalog/cargo-service.ts";
import { openCatalog } from "./catalog/catalog-sync.ts";
import { openChecks } from "./checks/checks.ts";
import { openNetwork } from "./cluster/open-network.ts";
import { registrationOf } from "./config/exposure.ts";
import { memoryBudgets } from "./config/memory-settings.ts";
import type { CoordinatorConfig } from "./config/resolve-config.ts";
import { openConversations } from "./conversations/conversations.ts";
import { openCore, type Core } from "./core.ts";
import { openCurveKeeper } from "./dispatch/curve-keeper.ts";
import { openBatches, type Batches } from "./dialects/batches/open-batches.ts";
import { dialects, lineEndpoints } from "./dialects/dialects.ts";
import { openAttemptTokens } from "./dispatch/attempt-tokens.ts";
import type { Env } from "./env.ts";
import { accountEvents } from "./events/account-events.ts";
import { watchChanges, watchAuditLog } from "./events/watch-changes.ts";
import { openFiles } from "./files/open-files.ts";
import { createApp } from "./http/app.ts";
import { httpOptionsOf, servedFolders } from "./http/http-options.ts";
import { webhookPayload } from "./http/schemas/webhook-payload.ts";
import { clientAddress } from "./http/server/client-address.ts";
import { listen, type Listener } from "./http/server/transport.ts";
import { openCargoSigner } from "./islands/cargo-signer.ts";
import { openIslandGateway, type IslandGateway } from "./islands/gateway.ts";
import { openJobService } from "./jobs/job-service.ts";
import { logJobEnds } from "./metrics/job-metrics.ts";
import { openMetrics } from "./metrics/metrics.ts";
import { openHosts } from "./open-hosts.ts";
import { openOperators } from "./open-operators.ts";
import { measureIslandWork } from "./operators/island-work.ts";
import { openSuspensions } from "./operators/suspensions.ts";
import { MAX_CLOSE_MS, openParts } from "./parts.ts";
import { cargoRecommender } from "./recommendations/recommend.ts";
import { openRetention } from "./retention/retention.ts";
import { retryWhileUnavailable, retryWhileReadOnly } from "./store/retry-while-unavailable.ts";
import { openTracing } from "./tracing/open-tracing.ts";
import { openWebhooks } from "./webhooks/webhook-sender.ts";

/** Delay after which Islands reconnect when the coordinator stops. */
const RETURN_AFTER_MS = 1_000;

export interface Coordinator {
  /** Address of the listener, `http://host:port`. */
  readonly url: string;
  /** Stops requests, then Island sessions (with a reconnect delay), then responses, then storage. */
  close(): Promise<void>;
}

/** Opens storage, restores unfinished jobs, then accepts Islands and clients. */
export async function openCoordinator(given: Env<keyof CoordinatorConfig>): Promise<Coordinator> {
  // Checked first, so that an invalid configuration is reported at once.
  const registration = registrationOf(given.config);
  await using parts = openParts(given.clock);
  const network = parts.add(await openNetwork(given));
  const { store, peers, clock, credentials, seen } = network;
  const env = { ...given, clock };
  const { config, log } = env;
  const stored = <T>(step: () => T | Promise<T>): Promise<T> => retryWhileReadOnly(step, env);

  const catalogSync = parts.add(await stored(() => openCatalog(env, store.catalog)));
  const { catalog } = catalogSync;
  const accounts = openAccounts(env, store.accounts, registration, credentials);
  parts.add({ close: () => accounts.settled() });
  const isNew = !(await stored(() => store.islands.hasAny()));
  const signer = await stored(() => openCargoSigner(env, store.secrets, isNew));
  const attemptTokens = await stored(() => openAttemptTokens(store.secrets));
  const webhooks = openWebhooks(env, store.webhooks, webhookPayload(store));
  const suspensions = parts.add(await stored(() => openSuspensions(env, store, credentials)));

  const standings = parts.add(await stored(() => openStandings(env, store)));

  const memory = memoryBudgets(config, getHeapStatistics().heap_size_limit);
  const checks = parts.add(openChecks(clock));
  const files = parts.add(openFiles(env, store, attemptTokens));
  const core = openCore(env, network, {
    store,
    catalog,
    refreshCatalog: catalogSync.refresh,
    memory,
    checks,
    attemptTokens,
    signer,
    limitOf: async (accountId) => (await retryWhileUnavailable(() => accounts.limits(accountId), clock)).concurrentJobs,
    suspensionOf: suspensions.reasonFor,
    headOf: files.head,
    onWebhookDue: (id, accountId) => webhooks.add(id, accountId),
    standings,
    random: Math.random,
  });
  const { scheduler, islands, submissions, explainWait, batches, member, dispatcher } = core;
  const router = parts.add(core.router);
  parts.add({ close: () => member.leave() });
  parts.add(webhooks);
  parts.add(openCurveKeeper(env, store, scheduler, islands, dispatcher));
  parts.add(core);

  // Jobs are restored before Islands and clients connect.
  const recovered = await core.restore();
  await stored(() => member.start());
  if (recovered.waiting + recovered.held > 0) log.info(recovered, "Restored unfinished jobs");
  // Tracing opens after the restore: it would trace restored jobs as new ones.
  const tracing = config.tracesUrl === null ? null : parts.add(await openTracing(env, config.tracesUrl, core.jobs));
  await webhooks.start();
  catalogSync.watch((slug) => dispatcher.cargoChanged(slug));

  const cargos = openCargos(
    env,
    store.catalog,
    catalogSync,
    () => member.announceCatalogChange(),
    (...given) => checks.cargo(...given),
  );
  const online = (): string[] => [...islands.connected()].map(({ island }) => island.hostId);
  const retention = parts.add(openRetention(env, store, online));
  const removeJob = (id: string): Promise<void> => retention.remove({ kind: "job", id });
  const jobs = openJobService(
    clock,
    store,
    core.jobs,
    submissions,
    router,
    explainWait,
    dispatcher.placementOf,
    removeJob,
  );
  const { readers } = core;
  const auditor = parts.add(openAuditor(env, store, catalog, core.jobs, jobs, checks, readers, standings, Math.random));
  const removeConversation = (id: string): Promise<void> => retention.remove({ kind: "conversation", id });
  const conversations = openConversations(env, store.conversations, jobs, catalog, removeConversation);
  // The next start resumes conversation answers in progress, so they are not cancelled here.
  parts.add({ drain: () => conversations.close() });
  const fileBatches = openBatches(env, store, files, jobs, catalog, lineEndpoints);
  parts.add(fileBatches);
  retention.onAccountEnd((accountId) => Promise.all([cargos.removeAll(accountId), files.removeAll(accountId)]));
  retention.onAccountEnd((accountId) => member.endJobsOf(accountId));
  retention.onAccountEnd((accountId) => fileBatches.removeAll(accountId));

  const gateway = openIslandGateway(env, core.connections, accounts, signer.publicKey, memory, (request) =>
    clientAddress(request, config),
  );
  credentials.serve({ end: (credential) => gateway.endSessionsOf(credential), open: () => gateway.openTokens() });
  const events = accountEvents(clock);
  parts.add({ drain: () => events.close() });
  watchChanges(events, clock, core.jobs, islands, (listener) => dispatcher.onQuarantine(listener));
  watchAuditLog(events, store, clock);
  member.shareEvents(events);
  const hosts = openHosts(env, network, core, suspensions, events);
  parts.add(hosts.metrics);
  const work = measureIslandWork(core.jobs, islands, dispatcher, clock);
  const operators = openOperators(env, network, core, work, catalogSync, suspensions, standings, auditor, gateway);
  const recommend = cargoRecommender(
    env,
    store,
    catalog,
    () => member.queuedDemand(),
    scheduler,
    (hostId) => islands.get(hostId)?.policy,
  );
  logJobEnds(core.jobs, clock, log);
  const metrics = openMetrics({
    ...env,
    ...core,
    work,
    store,
    peers,
    seen,
    gateway,
    webhooks,
    auditor,
    files,
    fileBatches,
  });

  await auditor.start();
  files.start();
  fileBatches.start();
  const answers = (): Promise<unknown> => conversations.resume();
  if (!store.cluster.isShared) await answers();
  const readersOf = (slug: string): string[] => {
    const cargo = catalog.known(slug);
    return cargo === undefined ? [] : readers.here(cargo);
  };
  member.share(dispatcher, readersOf, {
    webhooks: () => webhooks.adoptUnowned(),
    audits: () => auditor.adoptUnowned(),
    answers,
    removals: () => retention.resume(),
  });
  parts.add({ close: () => member.closeSharing() });
  retention.start();
  const app = createApp(
    {
      ...servedFolders(config),
      accounts,
      availability: hosts.availability,
      batches,
      bus: config.busAddress === null ? null : network.bus,
      cargos,
      catalog,
      clock,
      conversations,
      credentials,
      events,
      files,
      islandSessions: gateway,
      islands: hosts.service,
      jobs,
      log,
      metrics,
      operators,
      options: httpOptionsOf(config, memory),
      quota: member.quota,
      recommend,
      retention,
      store,
      suspensions,
      tracing,
      version: env.version,
    },
    dialects(fileBatches),
  );
  const listener = await listen((request, bindings) => app.fetch(request, bindings), config);
  // A rejected upgrade also carries the public key: an Island that joins pins the key before it sends its token.
  listener.onUpgrade(SESSION_PATH, (request) => gateway.upgrade(request), { [PUBLIC_KEY_HEADER]: signer.publicKey });
  parts.add({
    drain: (limit) => disconnectAll(env, listener, gateway, core, fileBatches, limit),
    // Job timers end first: they must not fire while other parts close.
    close: () => core.close(),
  });
  const url = `http://${urlHost(config.host)}:${listener.port}`;
  network.setUrl(url);
  // A database server may stay unavailable, so closing has a time limit. A local file is always closed completely.
  return { url, close: parts.release(store.cluster.isShared ? MAX_CLOSE_MS : null) };
}

/** Disconnects clients while storage and Islands still work, so that interrupted chats are cancelled; then Islands. */
async function disconnectAll(
  { clock }: Env,
  listener: Listener,
  gateway: IslandGateway,
  { jobs, member }: Core,
  fileBatches: Batches,
  limit: CloseLimit,
): Promise<void> {
  const batchesLeft = limit.within(fileBatches.close());
  await listener.finishResponses(limit.signal);
  // Batches stop first: their lines must not submit jobs after jobs are transferred.
  await batchesLeft;
  // If storage is read-only and the wait times out, the next start restores the jobs.
  await limit.within(jobs.settled());
  const moves = new CloseLimit(clock, MAX_CLOSE_MS);
  await gateway.close(RETURN_AFTER_MS, await member.transfer(moves.signal));
  moves.end();
  await listener.close(limit.signal);
}
