import { z } from "zod";
import type { IslandAgent } from "../agent.ts";
import { importedFileSchema, type OpenStores } from "../artifacts/open-stores.ts";
import type { StoredFiles } from "../artifacts/stored-files.ts";
import { storePause } from "../availability/pause-file.ts";
import { CliError } from "../../shared/errors.ts";
import type { AgentMetrics } from "../control/agent-metrics.ts";
import { PlainText, type ControlRoutes } from "../control/control-server.ts";
import type { CargoPool, LoadedReport } from "../execution/cargo-pool.ts";
import type { EarningsReport } from "../execution/earnings.ts";
import type { JobHistory } from "../execution/job-history.ts";
import type { ReloadReply } from "./config-command.ts";
import type { ApplySettings } from "./settings-reload.ts";
import type { ShownStatus } from "./status-command.ts";

/** Slug of a Cargo, or key of an artifact. */
const nameSchema = z.object({ name: z.string() });
const unloadSchema = z.object({ name: z.string().optional() });
const keySchema = z.object({ key: z.string() });

interface ControlContext {
  readonly agent: IslandAgent;
  readonly stored: StoredFiles;
  readonly adopt: OpenStores["adopt"];
  readonly status: () => ShownStatus;
  readonly applySettings: ApplySettings;
  readonly dataDirectory: string;
  readonly history: JobHistory;
  readonly metrics: AgentMetrics;
  readonly earnings: () => Promise<EarningsReport>;
}

/** Returns the agent's handlers for the `island` commands. */
export function controlRoutes({
  agent,
  stored,
  adopt,
  status,
  applySettings,
  dataDirectory,
  history,
  metrics,
  earnings,
}: ControlContext): ControlRoutes {
  return {
    "GET /status": status,
    "GET /metrics": async () => new PlainText(await metrics.read()),
    "GET /history": async () => ({ jobs: history.list(), ...(await earnings()) }),
    "POST /pause": async () => {
      await storePause(dataDirectory, true);
      agent.pause();
      return status();
    },
    "POST /resume": async () => {
      await storePause(dataDirectory, false);
      agent.resume();
      return status();
    },
    "POST /settings": async (body) => {
      const outcome = await applySettings(keySchema.parse(body).key);
      return { outcome, status: status() } satisfies ReloadReply;
    },
    "POST /drain": () => {
      void agent.drain(null);
      return status();
    },
    "GET /models": () => stored.list(),
    "POST /models/remove": (body) => stored.remove(nameSchema.parse(body).name),
    "POST /models/prune": () => stored.prune(),
    "POST /models/unload": (body) => unload(agent.pool, unloadSchema.parse(body).name),
    "POST /models/adopt": (body) => adopt(importedFileSchema.parse(body)),
    "GET /models/pulls": () => agent.downloads.pulls(),
    "POST /models/pull": (body) => {
      agent.downloads.pull(nameSchema.parse(body).name);
      return agent.downloads.pulls();
    },
  };
}

/** @param slug undefined for all Cargos that no job uses. @throws {CliError} if the Cargo is not loaded or in use. */
async function unload(pool: CargoPool, slug: string | undefined): Promise<LoadedReport[]> {
  const unloaded = await pool.unloadIdle((cargo) => slug === undefined || cargo.slug === slug);
  if (unloaded.length > 0 || slug === undefined) return unloaded;
  const isUsed = pool.loaded().some((each) => each.slug === slug);
  throw new CliError(
    isUsed
      ? `${slug} is running a job. Unload it after the job has ended`
      : `${slug} is not in memory. List loaded Cargos with: island status --verbose`,
  );
}
