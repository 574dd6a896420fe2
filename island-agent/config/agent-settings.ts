import { parseOpenHours, type OpenHours } from "../availability/open-hours.ts";
import { isAccountId, readPublicKey } from "../../shared/cargo-signature.ts";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../shared/cargo.ts";
import { GIB } from "../../shared/format-bytes.ts";
import { LOG_FORMAT_SETTING } from "../../shared/cli/log-format.ts";
import { LOG_LEVELS } from "../../shared/logger.ts";
import { DEFAULT_HUB_ENDPOINT } from "../models/download/fetch-policy.ts";
import { AllowedRegistries, DEFAULT_REGISTRIES } from "./allowed-registries.ts";
import { coordinatorAddress } from "./coordinator-address.ts";
import { isGpuDevice } from "./gpu-device-name.ts";
import { DEFAULT_NAME_SERVERS } from "./default-name-servers.ts";
import { isPrivateAddress } from "../../shared/net/private-address.ts";
import { readBaseUrl, setting, type Setting } from "../../shared/settings.ts";

export const AGENT_ENV_PREFIX = "ISLAND_";

/** A GB of the configuration: 2^30 bytes, for RAM, VRAM and disk alike. */
const MAX_GB = 1_048_576;
/** Longest list of names, keys or addresses. */
const MAX_LIST = 20;

/** Every key of config.toml, in the order in which they are listed. The only place of defaults and ranges. */
export const AGENT_SETTINGS = {
  apiUrls: setting.parsed("coordinator.api_url", {
    fallback: null,
    allowed: "one or several http or https URLs, separated by commas",
    parse: readAddresses,
    meaning: "Address of the coordinator; of a network with several, any of them or all",
  }),
  token: islandToken("coordinator.token", {
    meaning: "Island token (it_…) that an account made for this host",
  }),
  publicKey: publicKey("coordinator.public_key", {
    meaning: "Key that the coordinator signs its Cargos with, stored by island join; nothing else runs here",
  }),
  accountId: setting.parsed("coordinator.account", {
    fallback: null,
    allowed: "the id of an account (user_…)",
    parse: (text) => (isAccountId(text) ? text : undefined),
    meaning: "Account that this Island belongs to, stored by island join: its own Cargos run here too",
  }),
  slots: setting.integer("slots", {
    min: 1,
    max: 1_000,
    fallback: 4,
    meaning: "Jobs that run at once, all Cargos together",
  }),
  threads: setting.integer("threads", {
    min: 1,
    max: 1_024,
    fallback: null,
    unsetMeans: "physical cores - 1",
    meaning: "CPU threads for jobs",
  }),
  hours: setting.parsed("hours", {
    fallback: null,
    unsetMeans: "day and night",
    allowed: "parts of the day such as 22:00-07:00, separated by commas",
    parse: readOpenHours,
    meaning: "When new jobs are taken, by local time",
  }),
  gpu: setting.choice("gpu", ["auto", "off"], { fallback: "auto", meaning: "Whether jobs may use the GPU" }),
  sandbox: setting.choice("sandbox", ["require", "auto", "off"], {
    fallback: "auto",
    meaning: "Whether native runtimes run in a sandbox: only there, where this system has one, or never",
  }),
  diskBudgetBytes: gigabytes("models.disk_budget_gb", {
    min: 0,
    fallback: 50,
    meaning: "Most that the models on disk may take",
  }),
  minFreeBytes: gigabytes("models.min_free_gb", {
    min: 0,
    fallback: 5,
    meaning: "Disk space that downloads of models and images leave free",
  }),
  preload: setting.boolean("models.preload", {
    fallback: true,
    meaning: "Whether to fetch, within the disk budget, what the network wants most",
  }),
  hubEndpoint: setting.url("models.hub_endpoint", {
    fallback: DEFAULT_HUB_ENDPOINT,
    meaning: "Model hub, or a mirror of it, for hf: addresses",
  }),
  hubToken: setting.text("models.hub_token", {
    fallback: null,
    isSecret: true,
    meaning: "Access token for gated models; sent to the hub only",
  }),
  allowPrivateAddresses: setting.boolean("models.allow_private_addresses", {
    fallback: false,
    meaning: "Fetch models also from addresses of the local network",
  }),
  containersEnabled: setting.boolean("containers.enabled", {
    fallback: true,
    meaning: "Whether to run containers, where Docker or Podman is there",
  }),
  containerRegistries: setting.parsed("containers.registries", {
    fallback: null,
    unsetMeans: DEFAULT_REGISTRIES.join(", "),
    allowed: "registries such as docker.io, ghcr.io/owner, separated by commas",
    parse: readRegistries,
    meaning: "Where images may come from",
  }),
  containersNetwork: setting.boolean("containers.network", {
    fallback: false,
    meaning: "Whether containers may reach the public internet, where their Cargo asks for it; never private addresses",
  }),
  containersDns: setting.parsed("containers.dns", {
    fallback: null,
    unsetMeans: DEFAULT_NAME_SERVERS.join(", "),
    allowed: "public addresses of name servers, separated by commas",
    parse: (text) => readList(text, (address) => !isPrivateAddress(address)),
    meaning: "Name servers of containers with a network",
  }),
  containersGpu: setting.boolean("containers.gpu", {
    fallback: true,
    meaning: "Whether containers may use the GPU, where their Cargo asks for it",
  }),
  containersGpuDevices: setting.parsed("containers.gpu_devices", {
    fallback: null,
    unsetMeans: "all GPUs, to one container of a Cargo at a time",
    allowed: "GPUs or parts of them, separated by commas: 0, GPU-…, MIG-… or names of CDI such as nvidia.com/gpu=0",
    parse: (text) => readList(text, isGpuDevice),
    meaning: "What containers that ask for a GPU get, one of these each",
  }),
  containersRuntime: setting.parsed("containers.runtime", {
    fallback: null,
    unsetMeans: "the engine's own",
    allowed: "the name of a runtime that the engine knows, such as runsc",
    parse: (text) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text) ? text : undefined),
    meaning: "Runtime of the engine that isolates containers",
  }),
  containersDiskBudgetBytes: gigabytes("containers.disk_budget_gb", {
    min: 0,
    fallback: 20,
    meaning: "Most that the images pulled may take, beside the models",
  }),
  allowRuntimes: names("cargos.allow_runtimes", RUNTIME_TYPES, "all", "The only runtimes that may run here"),
  denyRuntimes: names("cargos.deny_runtimes", RUNTIME_TYPES, "none", "Runtimes that may not run here"),
  allowCategories: names("cargos.allow_categories", CARGO_CATEGORIES, "all", "The only categories that may run here"),
  denyCategories: names("cargos.deny_categories", CARGO_CATEGORIES, "none", "Categories that may not run here"),
  signedBy: setting.parsed("cargos.signed_by", {
    fallback: null,
    unsetMeans: "the coordinator, also for this account alone",
    allowed: "Ed25519 public keys of 32 bytes in base64, separated by commas",
    parse: (text) => readList(text, (key) => readPublicKey(key) !== undefined),
    meaning: "Only Cargos run that one of these keys has signed for every Island",
  }),
  capRamBytes: gigabytes("caps.ram_gb", {
    min: 0.1,
    fallback: null,
    unsetMeans: "RAM without 2 GB, or without 15 % where that is more; at least half",
    meaning: "Most RAM that jobs may use",
  }),
  capVramBytes: gigabytes("caps.vram_gb", {
    min: 0,
    fallback: null,
    unsetMeans: "no cap",
    meaning: "Most VRAM that jobs may use",
  }),
  capCpuCores: setting.integer("caps.cpu_cores", {
    min: 1,
    max: 1_024,
    fallback: null,
    unsetMeans: "no cap",
    meaning: "Most CPU cores that jobs may use",
  }),
  hardwareRamBytes: gigabytes("hardware.ram_gb", {
    min: 0.1,
    fallback: null,
    unsetMeans: "detected",
    meaning: "RAM of this host, where detection is wrong",
  }),
  hardwareVramBytes: gigabytes("hardware.vram_gb", {
    min: 0,
    fallback: null,
    unsetMeans: "detected",
    meaning: "VRAM of this host, where detection is wrong",
  }),
  hardwarePhysicalCores: setting.integer("hardware.physical_cores", {
    min: 1,
    max: 4_096,
    fallback: null,
    unsetMeans: "detected",
    meaning: "CPU cores of this host, where detection is wrong",
  }),
  logLevel: setting.choice("log_level", LOG_LEVELS, { fallback: "info", meaning: "Least level that is logged" }),
  logFormat: LOG_FORMAT_SETTING,
};

/** A list of some of `known`, as text with commas. */
function names(key: string, known: readonly string[], unsetMeans: string, meaning: string): Setting<string[] | null> {
  const allowed = `some of ${known.join(", ")}, separated by commas`;
  return setting.parsed(key, {
    fallback: null,
    unsetMeans,
    allowed,
    parse: (text) => readList(text, (name) => known.includes(name)),
    meaning,
  });
}

/** The parts of a text with commas; undefined if one is not valid. */
function readList(text: string, isValid: (part: string) => boolean): string[] | undefined {
  const parts = text.split(",").map((part) => part.trim());
  return parts.length <= MAX_LIST && parts.every(isValid) ? parts : undefined;
}

function readRegistries(text: string): string[] | undefined {
  const registries = text.split(",").map((each) => each.trim());
  try {
    void new AllowedRegistries(registries);
    return registries;
  } catch {
    // The message comes from `allowed`.
    return undefined;
  }
}

function readOpenHours(text: string): OpenHours | undefined {
  try {
    return parseOpenHours(text);
  } catch {
    // The message comes from `allowed`.
    return undefined;
  }
}

/** Base URLs without trailing slash and API path, each once. */
function readAddresses(text: string): string[] | undefined {
  const parts = readList(text, (part) => readBaseUrl(part) !== undefined);
  return parts && [...new Set(parts.map((part) => coordinatorAddress(readBaseUrl(part) ?? "")))];
}

/** Island tokens begin with `it_` and have 43 characters. */
export function isIslandToken(text: string): boolean {
  return /^it_[0-9A-Za-z]{40}$/.test(text);
}

function islandToken(key: string, options: { readonly meaning: string }): Setting<string | null> {
  return {
    ...setting.text(key, { ...options, fallback: null, isSecret: true }),
    allowed: "an Island token: those begin with it_ and have 43 characters",
    check: (native) => (typeof native === "string" && isIslandToken(native) ? native : undefined),
  };
}

function publicKey(key: string, options: { readonly meaning: string }): Setting<string | null> {
  return {
    ...setting.text(key, { ...options, fallback: null }),
    allowed: "an Ed25519 public key of 32 bytes in base64",
    check: (native) => (typeof native === "string" && readPublicKey(native) !== undefined ? native : undefined),
  };
}

interface GigabyteOptions<F> {
  readonly min: number;
  readonly fallback: F;
  readonly unsetMeans?: string;
  readonly meaning: string;
}

function gigabytes<F extends number | null>(key: string, options: GigabyteOptions<F>) {
  return setting.number(key, { ...options, max: MAX_GB, factor: GIB });
}
