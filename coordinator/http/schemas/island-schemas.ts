import { z } from "@hono/zod-openapi";
import { cacheKeyOf, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Hardware } from "../../../shared/hardware.ts";
import { isDeclaredAddress } from "../../../shared/model-address.ts";
import type { Catalog, CatalogEntry } from "../../catalog/catalog.ts";
import type { IslandDay, IslandMetrics } from "../../islands/island-metrics.ts";
import { ISLAND_STATUSES, nameOf, type OwnedIsland, type OwnedIslandDetail } from "../../islands/island-service.ts";
import {
  MAX_CACHED,
  MAX_ENGINE_MODELS_SHOWN,
  MAX_LOADED,
  type LiveDownload,
  type LiveEngineModel,
} from "../../islands/live-island.ts";
import { engineModelFor } from "../../scheduler/fit.ts";
import { MAX_OWN_STANDINGS } from "../../store/audits.ts";
import { DAY_MS } from "../../store/ledger/host-metrics.ts";
import { presentStanding, standingSchema } from "./standing-schemas.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "./wire-units.ts";

const megabytes = z.int().describe("Memory in MB of 2^20 bytes");

const hardwareSchema = z
  .object({
    platform: z.string(),
    arch: z.string(),
    os_name: z.string().nullable(),
    cpu_model: z.string().nullable(),
    logical_cores: z.int(),
    physical_cores: z.int().nullable(),
    ram_mb: megabytes,
    gpus: z.array(
      z.object({
        vendor: z.string().nullable(),
        name: z.string(),
        vram_mb: megabytes.nullable(),
        unified_memory: z.boolean(),
        driver: z.string().nullable(),
      }),
    ),
    disk_free_mb: megabytes.nullable(),
    disk_budget_mb: megabytes,
  })
  .openapi("IslandHardware", { description: "Hardware, limited by the owner's caps. Unknown values are null" });

const loadSchema = z
  .object({
    slots: z.int().describe("Maximum number of jobs that the Island runs at the same time"),
    slots_busy: z.int(),
    cpu: z.number().nullable().describe("CPU load of all cores together, from 0 to 1"),
    gpu: z.number().nullable().describe("Load of the busiest graphics card, from 0 to 1"),
    free_ram_mb: megabytes.nullable(),
    free_vram_mb: megabytes.nullable(),
    temperature_c: z
      .number()
      .nullable()
      .describe("Temperature of the hottest processor or graphics card, in degrees Celsius"),
  })
  .openapi("IslandLoad", {
    description: "Most recent report of the Island, which sends one every 10 s. Unknown values are null",
  });

const bytesSchema = z.int().nullable();
const downloadSchema = z
  .object({
    cargo: z.string().describe("Slug of the Cargo"),
    fraction: z.number().nullable().describe("Progress, from 0 to 1; null while the size is unknown"),
    received_bytes: bytesSchema,
    total_bytes: bytesSchema,
    bytes_per_second: bytesSchema.describe("Average speed of the last 10 s"),
  })
  .openapi("IslandDownload", { description: "A download, as the Island last reported it. Unknown values are null" });

const shareSchema = z.number().nullable();
const uptimeSchema = z
  .object({ today: shareSchema, days_7: shareSchema, days_30: shareSchema })
  .openapi("IslandUptime", {
    description:
      "Share of the time that the Island was connected, from 0 to 1, in the current UTC day and the last 7 and 30 UTC days. The time before it was first seen does not count. Stored once a minute, so that a crash of a coordinator loses up to a minute",
  });
const earnedSchema = z
  .object({ today: creditsSchema, days_7: creditsSchema, days_30: creditsSchema })
  .openapi("IslandEarnings", {
    description: "Earnings in the current UTC day and the last 7 and 30 UTC days, by the time of the ledger entry",
  });
const outcomes = z.object({
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  timeout: z.int(),
  retried: z.int().describe("Number of attempts that failed or were lost on this Island and were retried"),
});
const jobsSchema = outcomes.openapi("IslandJobs", {
  description: "Numbers of jobs that ended on this Island in the last 30 UTC days; stored once a minute",
});

export const islandSchema = z
  .object({
    id: z.string().describe("Host id, a UUID"),
    name: z
      .string()
      .describe("Name that the owner gave the Island; otherwise the machine's name, or a name derived from the id"),
    status: z
      .enum(ISLAND_STATUSES)
      .describe(
        "`paused`: connected, but not accepting jobs, because its owner paused it, it is outside its hours, or it is shutting down. `quarantined`: several jobs in a row failed, and it gets few or no jobs. `suspended`: the operator suspended it, and its agent retries once a minute",
      ),
    is_live: z
      .boolean()
      .describe(
        "False if a coordinator that may have the Island did not reply; the status is then derived from `last_seen_at`",
      ),
    suspended_because: z
      .string()
      .nullable()
      .describe("Reason given by the operator; null unless the Island is suspended"),
    agent_version: z.string(),
    hardware: hardwareSchema,
    runtimes: z.array(z.object({ type: z.enum(RUNTIME_TYPES), version: z.string() })),
    load: z.union([loadSchema, z.null()]).describe("Null unless the Island is connected"),
    loaded: z.array(z.string()).describe(`Slugs of at most ${MAX_LOADED} Cargos whose model is in memory`),
    loading: z
      .array(z.string())
      .describe(`Slugs of at most ${MAX_LOADED} Cargos whose model is being loaded into memory`),
    downloads: z.array(downloadSchema).describe(`At most ${MAX_LOADED} downloads of models and images in progress`),
    running: z
      .array(z.object({ cargo: z.string(), since: timeSchema }))
      .describe(`The oldest ${MAX_LOADED} jobs on the Island, with their Cargo and start`),
    first_seen_at: timeSchema,
    last_seen_at: timeSchema,
    uptime: uptimeSchema,
    jobs: jobsSchema,
    tokens: z.int().describe("Tokens of the jobs that ended in the last 30 UTC days"),
    earned: earnedSchema,
  })
  .openapi("Island");

const daySchema = z
  .object({
    day: z.string().openapi({ format: "date", description: "Day in UTC" }),
    uptime: shareSchema.describe(
      "Share of the day that the Island was connected, from 0 to 1; null before it was first seen",
    ),
    jobs: outcomes,
    tokens: z.int(),
    earned: creditsSchema,
  })
  .openapi("IslandDay");

const engineModelSchema = z
  .object({
    name: z
      .string()
      .describe(
        "Name in the engine if the model is declared; otherwise `sha256:` and the hash of its file, or its repository and commit on the hub",
      ),
    declared: z.boolean().describe("Whether the engine only declares its name: nothing proves what the model is"),
    cargos: z.array(z.string()).describe("Slugs of the enabled Cargos whose jobs the engine runs with the model"),
    context_length: z.int().nullable().describe("Maximum number of tokens in prompt and completion of a job"),
    parameters: z.string().nullable().describe("Number of parameters, such as 8B"),
    quantization: z.string().nullable().describe("Quantisation of the weights, such as Q4_K_M"),
    busy: z.boolean().describe("Whether other clients of the engine use all its slots"),
  })
  .openapi("EngineModel", { description: "A model that an engine of the host serves. Unknown values are null" });

export const standingsSchema = z
  .array(standingSchema)
  .describe(
    `Standings of the owner, which are those of all its Islands: at most ${MAX_OWN_STANDINGS} Cargos with audits or held earnings, sorted by slug`,
  );

export const islandDetailSchema = islandSchema
  .extend({
    days: z.array(daySchema).describe("The last 30 UTC days including today, oldest first, without gaps"),
    cached_cargos: z
      .array(z.string())
      .describe("Slugs of enabled Cargos whose model or image is on the Island's disk; empty unless it is connected"),
    cached_models: z
      .array(z.string())
      .describe(`At most ${MAX_CACHED} models and images on the Island's disk; empty unless it is connected`),
    engine_models: z
      .array(engineModelSchema)
      .describe(
        `At most ${MAX_ENGINE_MODELS_SHOWN} models of the engines that the host lends; empty unless the Island is connected`,
      ),
    standings: standingsSchema,
  })
  .openapi("IslandDetail");

/** Statistics of an Island, which its agent also shows. */
export const metricsShape = { uptime: uptimeSchema, jobs: jobsSchema, tokens: z.int(), earned: earnedSchema };

export function presentIsland(island: OwnedIsland): z.infer<typeof islandSchema> {
  return { ...presentIslandFacts(island), ...presentMetrics(island.metrics) };
}

export function presentIslandFacts(
  island: Omit<OwnedIsland, "metrics">,
): Omit<z.infer<typeof islandSchema>, keyof typeof metricsShape> {
  const { record, status, live, isLive, suspensionReason } = island;
  return {
    id: record.hostId,
    name: nameOf(record),
    status,
    is_live: isLive,
    suspended_because: suspensionReason,
    agent_version: record.agentVersion,
    hardware: presentHardware(record.hardware),
    runtimes: record.runtimes.map(({ type, version }) => ({ type, version })),
    load: live && {
      slots: live.slots,
      slots_busy: live.slotsBusy,
      cpu: live.cpuLoad,
      gpu: live.gpuLoad ?? null,
      free_ram_mb: megabytesOf(live.freeRamBytes),
      free_vram_mb: megabytesOf(live.freeVramBytes),
      temperature_c: live.temperatureC ?? null,
    },
    loaded: [...(live?.loaded ?? [])],
    loading: [...(live?.loading ?? [])],
    downloads: (live?.downloads ?? []).map(presentDownload),
    running: (live?.running ?? []).map(({ slug, sinceMs }) => ({ cargo: slug, since: presentTime(sinceMs) })),
    first_seen_at: presentTime(record.firstSeenAtMs),
    last_seen_at: presentTime(record.lastSeenAtMs),
  };
}

function presentDownload(download: LiveDownload): z.infer<typeof downloadSchema> {
  const { slug, fraction, receivedBytes = null, totalBytes = null, bytesPerSecond = null } = download;
  return {
    cargo: slug,
    fraction,
    received_bytes: receivedBytes,
    total_bytes: totalBytes,
    bytes_per_second: bytesPerSecond,
  };
}

export function presentIslandDetail(
  island: OwnedIslandDetail,
  catalog: Pick<Catalog, "list">,
): z.infer<typeof islandDetailSchema> {
  const { cachedModels = [], engineModels = [] } = island.live ?? {};
  const cached = new Set(cachedModels);
  const hasModels = cached.size + engineModels.length > 0;
  const cargos = hasModels ? catalog.list({}, island.record.accountId) : [];
  return {
    ...presentIsland(island),
    days: island.metrics.byDay().map(presentDay),
    cached_cargos: cargos.filter((cargo) => cached.has(cacheKeyOf(cargo) ?? "")).map(({ slug }) => slug),
    cached_models: [...cached],
    engine_models: engineModels.map((model) => presentEngineModel(model, cargos)),
    standings: island.standings.map(presentStanding),
  };
}

function presentEngineModel(
  model: LiveEngineModel,
  cargos: readonly CatalogEntry[],
): z.infer<typeof engineModelSchema> {
  const { key, contextTokens, parameters, quantization, slots } = model;
  const served = { engineModels: [{ ...model, features: [] }] };
  return {
    name: /^[0-9a-f]{64}$/.test(key) ? `sha256:${key}` : key.replace(/^(?:engine|hf):/, ""),
    declared: isDeclaredAddress(key),
    cargos: cargos.filter((cargo) => engineModelFor(cargo, served) !== undefined).map(({ slug }) => slug),
    context_length: contextTokens,
    parameters,
    quantization,
    busy: slots === 0,
  };
}

function presentDay({ day, uptime, earnedMicro, counts }: IslandDay): z.infer<typeof daySchema> {
  return {
    day: new Date(day * DAY_MS).toISOString().slice(0, 10),
    uptime,
    jobs: presentJobs(counts),
    tokens: counts.tokens,
    earned: presentCredits(earnedMicro),
  };
}

export function presentMetrics({ uptime, earnedMicro, counts }: Omit<IslandMetrics, "byDay">) {
  return {
    uptime: { today: uptime.today, days_7: uptime.days7, days_30: uptime.days30 },
    jobs: presentJobs(counts),
    tokens: counts.tokens,
    earned: {
      today: presentCredits(earnedMicro.today),
      days_7: presentCredits(earnedMicro.days7),
      days_30: presentCredits(earnedMicro.days30),
    },
  };
}

function presentJobs({ completed, failed, cancelled, timedOut, retried }: IslandDay["counts"]) {
  return { completed, failed, cancelled, timeout: timedOut, retried };
}

function presentHardware(hardware: Hardware): z.infer<typeof hardwareSchema> {
  return {
    platform: hardware.platform,
    arch: hardware.arch,
    os_name: hardware.osName,
    cpu_model: hardware.cpuModel,
    logical_cores: hardware.logicalCores,
    physical_cores: hardware.physicalCores,
    ram_mb: Math.floor(hardware.ramBytes / MIB),
    gpus: hardware.gpus.map(({ vendor, name, vramBytes, unifiedMemory, driver }) => ({
      vendor,
      name,
      vram_mb: megabytesOf(vramBytes),
      unified_memory: unifiedMemory,
      driver,
    })),
    disk_free_mb: megabytesOf(hardware.diskFreeBytes),
    disk_budget_mb: Math.floor(hardware.diskBudgetBytes / MIB),
  };
}

function megabytesOf(bytes: number | null): number | null {
  return bytes === null ? null : Math.floor(bytes / MIB);
}
