import { z } from "@hono/zod-openapi";
import { cacheKeyOf, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { MIB } from "../../../shared/format-bytes.ts";
import type { Hardware } from "../../../shared/hardware.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { IslandDay, IslandFigures } from "../../islands/island-figures.ts";
import { ISLAND_STATUSES, nameOf, type OwnedIsland } from "../../islands/island-service.ts";
import { MAX_CACHED, MAX_LOADED, type LiveDownload } from "../../islands/live-island.ts";
import { DAY_MS } from "../../store/ledger/host-figures.ts";
import { creditsSchema, presentCredits, presentTime, timeSchema } from "./wire-units.ts";

const megabytes = z.int().describe("In MB of 2^20 bytes");

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
  .openapi("IslandHardware", { description: "After the caps of its owner. What is not known is null" });

const loadSchema = z
  .object({
    slots: z.int().describe("Jobs that it runs at the same time"),
    slots_busy: z.int(),
    cpu: z.number().nullable().describe("0 to 1, over all cores"),
    gpu: z.number().nullable().describe("0 to 1, of its busiest graphics card"),
    free_ram_mb: megabytes.nullable(),
    free_vram_mb: megabytes.nullable(),
    temperature_c: z.number().nullable().describe("Of its hottest processor or graphics card, in degrees Celsius"),
  })
  .openapi("IslandLoad", { description: "As it last said: every 10 s. What is not known is null" });

const bytesSchema = z.int().nullable();
const downloadSchema = z
  .object({
    cargo: z.string().describe("Slug"),
    fraction: z.number().nullable().describe("0 to 1; null while the size is not known"),
    received_bytes: bytesSchema,
    total_bytes: bytesSchema,
    bytes_per_second: bytesSchema.describe("Of the last 10 s"),
  })
  .openapi("IslandDownload", { description: "As it last said. What is not known is null" });

const shareSchema = z.number().nullable();
const uptimeSchema = z
  .object({ today: shareSchema, days_7: shareSchema, days_30: shareSchema })
  .openapi("IslandUptime", {
    description:
      "Share of the time connected, 0 to 1, in the UTC day, the last 7 and the last 30 UTC days with today, and not before it was first seen. Stored " +
      "once a minute; a crash of a coordinator loses up to a minute",
  });
const earnedSchema = z
  .object({ today: creditsSchema, days_7: creditsSchema, days_30: creditsSchema })
  .openapi("IslandEarnings", { description: "As in the ledger, by the UTC day of the entry" });
const outcomes = z.object({
  completed: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  timeout: z.int(),
  retried: z.int().describe("Attempts that failed or were lost here, and whose jobs were tried again"),
});
const jobsSchema = outcomes.openapi("IslandJobs", {
  description: "Jobs that ended here in the last 30 UTC days; stored as uptime is",
});

export const islandSchema = z
  .object({
    id: z.string().describe("Its host id, a UUID"),
    name: z.string().describe("By its owner; else of its machine, or made of its id"),
    status: z
      .enum(ISLAND_STATUSES)
      .describe(
        "paused: connected, and takes no new jobs (paused by its owner, outside its hours, or leaving). quarantined: it let down several jobs " +
          "in a row and gets few or none. suspended: by the operator; its agent asks again once a minute",
      ),
    is_live: z
      .boolean()
      .describe("False: a coordinator that may have the Island did not answer; the status is a guess by last_seen_at"),
    suspended_because: z.string().nullable().describe("What the operator says; null unless suspended"),
    agent_version: z.string(),
    hardware: hardwareSchema,
    runtimes: z.array(z.object({ type: z.enum(RUNTIME_TYPES), version: z.string() })),
    load: z.union([loadSchema, z.null()]).describe("Null unless it is connected"),
    loaded: z.array(z.string()).describe(`Slugs of Cargos whose model is in memory, at most ${MAX_LOADED}`),
    loading: z
      .array(z.string())
      .describe(`Slugs of Cargos whose model is on its way from the disk into memory, at most ${MAX_LOADED}`),
    downloads: z.array(downloadSchema).describe(`Models and images that it fetches now, at most ${MAX_LOADED}`),
    running: z
      .array(z.object({ cargo: z.string(), since: timeSchema }))
      .describe(`Jobs that it has now, the oldest ${MAX_LOADED}: of which Cargo, and since when`),
    first_seen_at: timeSchema,
    last_seen_at: timeSchema,
    uptime: uptimeSchema,
    jobs: jobsSchema,
    tokens: z.int().describe("Of these jobs"),
    earned: earnedSchema,
  })
  .openapi("Island");

const daySchema = z
  .object({
    day: z.string().openapi({ format: "date", description: "UTC" }),
    uptime: shareSchema.describe("Share of the day connected, 0 to 1; null before it was first seen"),
    jobs: outcomes,
    tokens: z.int(),
    earned: creditsSchema,
  })
  .openapi("IslandDay");

export const islandDetailSchema = islandSchema
  .extend({
    days: z.array(daySchema).describe("The last 30 UTC days with today, oldest first, without a gap"),
    cached_cargos: z
      .array(z.string())
      .describe("Slugs of enabled Cargos whose model or image is on its disk; empty unless it is connected"),
    cached_models: z
      .array(z.string())
      .describe(`Models and images on its disk, at most ${MAX_CACHED}; empty unless it is connected`),
  })
  .openapi("IslandDetail");

export function presentIsland(island: OwnedIsland): z.infer<typeof islandSchema> {
  const { record, status, live, isLive, figures, suspendedBecause } = island;
  return {
    id: record.hostId,
    name: nameOf(record),
    status,
    is_live: isLive,
    suspended_because: suspendedBecause,
    agent_version: record.agentVersion,
    hardware: presentHardware(record.hardware),
    runtimes: record.runtimes.map(({ type, version }) => ({ type, version })),
    load:
      live === null
        ? null
        : {
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
    ...presentFigures(figures),
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
  island: OwnedIsland,
  catalog: Pick<Catalog, "list">,
): z.infer<typeof islandDetailSchema> {
  const cached = new Set(island.live?.cachedModels);
  const cargos = cached.size === 0 ? [] : catalog.list({}, island.record.accountId);
  return {
    ...presentIsland(island),
    days: island.figures.byDay().map(presentDay),
    cached_cargos: cargos.filter((cargo) => cached.has(cacheKeyOf(cargo) ?? "")).map(({ slug }) => slug),
    cached_models: [...cached],
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

/** Figures of an Island, as its own page and its agent show them. */
export const figuresShape = { uptime: uptimeSchema, jobs: jobsSchema, tokens: z.int(), earned: earnedSchema };

export function presentFigures({ uptime, earnedMicro, counts }: Omit<IslandFigures, "byDay">) {
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
