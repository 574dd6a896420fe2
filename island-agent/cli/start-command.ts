import { join } from "node:path";
import type { Clock } from "../../shared/clock.ts";
import type { Hardware } from "../../shared/hardware.ts";
import type { LogFormat } from "../../shared/cli/log-settings.ts";
import type { Logger, LogLevel } from "../../shared/logger.ts";
import { IslandAgent } from "../agent.ts";
import { Availability } from "../availability/availability.ts";
import { readPause } from "../availability/pause-file.ts";
import { openCargoFiles } from "../artifacts/cargo-files.ts";
import { openDownloadWatch } from "../artifacts/download-watch.ts";
import { readConfigFile } from "../config/config-file.ts";
import { policyOf } from "../config/owner-policy.ts";
import { describeUnknownEnv, resolveAgentConfig, type AgentConfig } from "../config/resolve-agent-config.ts";
import { getFromAgent } from "../control/control-client.ts";
import { agentMetrics } from "../control/agent-metrics.ts";
import { forgetLastEnd, storeLastEnd } from "../control/last-end.ts";
import { openControlServer } from "../control/control-server.ts";
import { readBenchmark } from "../doctor/benchmark.ts";
import { fetchEarnings } from "../execution/earnings.ts";
import { openJobFiles } from "../execution/job-files.ts";
import { openJobHistory } from "../execution/job-history.ts";
import { loadHostId } from "../hardware/host-id.ts";
import { detectHardware } from "../hardware/detect-hardware.ts";
import { openUsageSampler } from "../hardware/usage.ts";
import { modelDirectoryOf, openStores } from "../artifacts/open-stores.ts";
import { resolveFetchPolicy } from "../models/download/fetch-policy.ts";
import { fetchRecommendations } from "../preload/recommendations.ts";
import { ContainerRuntime } from "../runtimes/container/container-runtime.ts";
import type { ImageStore } from "../runtimes/container/image-store.ts";
import { openEngines } from "../runtimes/engine/engines.ts";
import type { CargoRuntime } from "../runtimes/runtime.ts";
import {
  checkNetwork,
  containerLimitsOf,
  createRuntimes,
  engineSearch,
  findSandbox,
} from "../runtimes/create-runtimes.ts";
import { MAX_PROBE_MS, RuntimeProbes } from "../runtimes/runtime-probes.ts";
import { CoordinatorAddresses } from "../session/coordinator-addresses.ts";
import { openStoredFiles } from "../artifacts/stored-files.ts";
import { isAllowed } from "../../shared/owner-policy.ts";
import { CliError } from "../../shared/errors.ts";
import { controlRoutes } from "./control-routes.ts";
import { logDrain } from "./drain-log.ts";
import { settingsReload } from "./settings-reload.ts";
import type { ShownStatus } from "./status-command.ts";

export interface RunningAgent {
  /** Resolves to the reason when the agent has ended and all resources are closed. */
  readonly ended: Promise<string>;
  /** Drains as after SIGTERM: running jobs have a minute, then they are returned to the coordinator. */
  drain(): Promise<void>;
  stop(): Promise<void>;
  /** Returns true after a signal or command to end. */
  isDraining(): boolean;
}

/** Time that running jobs have after SIGTERM before they are returned to the coordinator. */
const MAX_DRAIN_MS = 60_000;
/** Time in which the Island waits for its engines before it connects. */
const MAX_ENGINES_WAIT_MS = 5_000;
/** Time in which a drained agent tries to send its last results to the coordinator. */
const DRAIN_TIMEOUT_MS = 15_000;

/**
 * Starts the agent of a data directory that has joined a coordinator.
 * @throws {CliError} when it has not joined, an agent already runs there, no runtime is usable, or the directory cannot
 * be used.
 */
export async function startAgent(options: {
  readonly dataDirectory: string;
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly version: string;
  readonly clock: Clock;
  readonly openLog: (level: LogLevel, format: LogFormat | null) => Logger | Promise<Logger>;
  /** Called when the Island connects for the first time. */
  readonly onConnected: (summary: string) => void;
}): Promise<RunningAgent> {
  const { dataDirectory, clock, env, flags } = options;
  const file = await readConfigFile(dataDirectory);
  const config = resolveAgentConfig({ flags, env, file });
  const { apiUrls, token, publicKey, accountId } = config.coordinator;
  if (apiUrls === null || token === null)
    throw new CliError("This Island has not joined a coordinator. First run: island join URL");
  if (publicKey === null)
    throw new CliError("The settings do not contain the coordinator's key. Join again with: island join URL");
  if ((await getFromAgent(dataDirectory, "/status")) !== undefined)
    throw new CliError(`An agent is already running on ${dataDirectory}. Show it with: island status`);
  await forgetLastEnd(dataDirectory);

  const log = await options.openLog(config.logLevel, config.logFormat);
  const unknown = describeUnknownEnv(env);
  if (unknown !== null) log.warn({}, unknown);
  if (file?.isPrivate === false)
    log.warn(
      { file: file.name },
      "Other users can read the settings file, which contains the Island token. Protect it with: chmod 600",
    );
  const stack = new AsyncDisposableStack();
  try {
    const hostId = await loadHostId(dataDirectory);
    const detect = ({ hardware, caps, models }: AgentConfig): Promise<Hardware> =>
      detectHardware({
        overrides: hardware,
        caps,
        modelDirectory: modelDirectoryOf(dataDirectory),
        diskBudgetBytes: models.diskBudgetBytes,
      });
    const hardware = await detect(config);
    const coordinators = new CoordinatorAddresses(apiUrls, Math.random);
    const currentUrl = (): string => coordinators.current;
    const engine = engineSearch(env, hardware);
    const stores = stack.use(await openStores(dataDirectory, config, engine, clock, currentUrl));
    const files = openCargoFiles(stores.artifacts, stores.names, openDownloadWatch(clock, log));
    const usage = stack.use(openUsageSampler({ clock, hardware }));
    const { images } = stores;
    const containers = images === null ? null : { images, islandId: hostId };
    const sandbox = await findSandbox({ config, hardware, env });
    if (sandbox.state.remedy !== null)
      log.warn(sandbox.state, "Native runtimes run in a weaker sandbox than this machine supports; see remedy");
    const setUp = { dataDirectory, clock, env, log };
    const all = createRuntimes({ ...setUp, config, hardware, sandbox, containers });
    let policy = policyOf(config, false);
    const candidates = all.filter(({ type }) => isAllowed(policy.runtimes, type));
    // The container engine may start long after the agent. Only then is the policy of containers known.
    const prepare = async (runtime: CargoRuntime): Promise<void> => {
      if (!(runtime instanceof ContainerRuntime)) return;
      await clearContainers(runtime, images, log);
      const network = await checkNetwork(config, [runtime]);
      if (network.kind === "refused") log.warn({ reason: network.reason }, "Containers run without a network");
      policy = policyOf(config, network.kind === "filtered");
    };
    const probes = stack.use(new RuntimeProbes({ candidates, clock, log, prepare }));
    await probes.probeAll();
    if (!probes.canBecomeUsable && config.engines.urls.length === 0)
      throw new CliError("No runtime is usable on this host. For the reasons, run: island doctor");
    const isPaused = await readPause(dataDirectory);
    const availability = new Availability({ clock, hours: config.hours, isPaused });
    const history = stack.use(await openJobHistory(dataDirectory, clock, log));
    const policyOfFetches = resolveFetchPolicy({
      coordinatorUrl: currentUrl(),
      currentCoordinatorUrl: currentUrl,
    });
    const fetchFiles = await openJobFiles({
      directory: join(dataDirectory, "job-files"),
      policy: policyOfFetches,
      token,
      clock,
    });
    const engines = stack.use(await openEngines(dataDirectory, config.engines, clock, log, () => agent.noteEngines()));
    const metrics = agentMetrics(() => agent.status(), options.version);
    const agent = new IslandAgent({
      coordinators,
      token,
      publicKey,
      accountId,
      signedBy: config.cargos.signedBy,
      policy: () => policy,
      engines,
      hostId,
      version: options.version,
      benchmark: await readBenchmark(dataDirectory),
      drainTimeoutMs: DRAIN_TIMEOUT_MS,
      clock,
      offer: { slots: config.slots, hardware },
      runtimes: probes.usable,
      files,
      availability,
      recommend: config.models.preload ? (id, signal) => fetchRecommendations(currentUrl(), id, signal) : null,
      usage: () => usage.read(),
      freeRamBytes: () => usage.loadableRamBytes(),
      log,
      fetchFiles,
      onEnded: (job) => {
        history.add(job);
        metrics.recordRun(job);
      },
      onConnected: () =>
        options.onConnected(
          `${currentUrl()} offering ${[...probes.usable.keys()].join(", ")}, ${agent.status().slots} slots`,
        ),
    });
    probes.onFound = () => agent.announce();
    const status = (): ShownStatus => {
      return {
        ...agent.status(),
        unusable: probes.unusable(),
        sandbox: sandbox.state,
        disk: stores.disk(),
        noSpaceFor: files.noSpaceFor(),
      };
    };
    const applySettings = settingsReload({
      dataDirectory,
      flags,
      env,
      config,
      agent,
      availability,
      engines,
      probes,
      usage,
      detect,
      log,
      runtimesFor: async (changed, seen) => {
        const limits = containerLimitsOf(changed, seen);
        for (const runtime of all) if (runtime instanceof ContainerRuntime) runtime.setLimits(limits);
        const inside = await findSandbox({ config: changed, hardware: seen, env });
        return createRuntimes({ ...setUp, config: changed, hardware: seen, sandbox: inside, containers: null });
      },
    });
    const stored = openStoredFiles(
      stores.artifacts,
      stores.names,
      () => files.users,
      (isMeant) => agent.pool.unloadIdle(isMeant),
    );
    stack.use(
      await openControlServer(
        dataDirectory,
        options.pid,
        controlRoutes({
          agent,
          stored,
          adopt: stores.adopt,
          status,
          applySettings,
          dataDirectory,
          history,
          metrics,
          earnings: () => fetchEarnings({ coordinatorUrl: currentUrl(), hostId, token }, clock),
        }),
      ),
    );
    // A command may have changed the file while the agent started, when no control server notified it.
    await applySettings("engines.urls");
    // Otherwise the first job could download a model that an engine has.
    await engines.checked(MAX_ENGINES_WAIT_MS);
    return {
      ended: runToEnd(agent, stack, async (reason) => {
        if (availability.isDraining) return;
        await storeLastEnd(dataDirectory, { reason, atMs: clock.now() }).catch((error: unknown) =>
          log.warn({ reason: String(error) }, "Could not store the reason why the agent stopped"),
        );
      }),
      drain: async () => {
        const running = agent.status().running.length;
        log.info({ running }, running === 0 ? "Stopping" : "Stopping: running jobs have one minute to finish");
        const isDone = new AbortController();
        void logDrain(agent, clock, log, MAX_DRAIN_MS, isDone.signal);
        await agent.drain(MAX_DRAIN_MS);
        isDone.abort();
      },
      stop: () => agent.stop(),
      isDraining: () => availability.isDraining,
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Removes containers of a killed agent, and entries of images that the engine no longer has. */
async function clearContainers(runtime: ContainerRuntime, images: ImageStore | null, log: Logger): Promise<void> {
  try {
    const limit = AbortSignal.timeout(MAX_PROBE_MS);
    await images?.reconcile(limit);
    await runtime.sweep(limit);
  } catch (error) {
    // Each load of a container repeats the removal, so a hanging engine need not stop the other runtimes.
    log.warn({ reason: String(error) }, "Could not remove containers of an earlier run");
  }
}

async function runToEnd(
  agent: IslandAgent,
  stack: AsyncDisposableStack,
  noteEnd: (reason: string) => Promise<void>,
): Promise<string> {
  await using _opened = stack;
  const reason = await agent.run();
  await noteEnd(reason);
  return reason;
}
