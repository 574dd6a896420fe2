import { parseOpenHours, type OpenHours } from "../availability/open-hours.ts";
import { isAccountId, readPublicKey } from "../../shared/cargo-signature.ts";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../shared/cargo.ts";
import { GIB } from "../../shared/format-bytes.ts";
import { LOG_FORMAT_SETTING, LOG_LEVEL_SETTING } from "../../shared/cli/log-settings.ts";
import { DEFAULT_HUB_ENDPOINT } from "../models/download/fetch-policy.ts";
import { AllowedRegistries, DEFAULT_REGISTRIES } from "./allowed-registries.ts";
import { coordinatorAddress } from "./coordinator-address.ts";
import { isGpuDevice } from "./gpu-device-name.ts";
import { DEFAULT_NAME_SERVERS } from "./default-name-servers.ts";
import { isPrivateAddress } from "../../shared/net/private-address.ts";
import { readBaseUrl, setting, settingGroup, type Setting } from "../../shared/settings.ts";

export const AGENT_ENV_PREFIX = "ISLAND_";

/** Bytes of a GB in the configuration, which is 2^30 for RAM, VRAM and disk. */
const MAX_GB = 1_048_576;
/** Maximum number of slots in the protocol. */
export const MAX_SLOTS = 1_000;
/** Maximum length of a list of names, keys or addresses. */
const MAX_LIST_ITEMS = 20;

const COORDINATOR = settingGroup("Coordinator", {
  apiUrls: setting.parsed("coordinator.api_url", {
    fallback: null,
    type: "<urls>",
    allowed: "one or more http or https URLs, separated by commas",
    parse: readAddresses,
    meaning: "URL of the coordinator. For a cluster, one or more of its coordinators, separated by commas",
  }),
  token: islandToken("coordinator.token", {
    meaning: "Island token (it_…) of the account that this Island belongs to. Stored by island join",
  }),
  publicKey: publicKey("coordinator.public_key", {
    meaning: "Public key of the coordinator, in base64. Only Cargos signed with it run here. Stored by island join",
  }),
  accountId: setting.parsed("coordinator.account", {
    fallback: null,
    type: "<user_…>",
    allowed: "the id of an account (user_…)",
    parse: (text) => (isAccountId(text) ? text : undefined),
    meaning: "Account that this Island belongs to. Its unapproved Cargos also run here. Stored by island join",
  }),
});

const JOBS = settingGroup("Jobs", {
  slots: setting.integer("slots", {
    min: 1,
    max: MAX_SLOTS,
    fallback: null,
    unsetMeans: "4, and as many as the engines have",
    meaning: "Number of jobs that run at the same time",
  }),
  threads: setting.integer("threads", {
    min: 1,
    max: 1_024,
    fallback: null,
    unsetMeans: "physical cores minus 1",
    meaning: "CPU threads for jobs",
  }),
  hours: setting.parsed("hours", {
    fallback: null,
    unsetMeans: "day and night",
    type: "<hh:mm-hh:mm,…>",
    allowed: "parts of the day such as 22:00-07:00, separated by commas",
    parse: readOpenHours,
    meaning:
      "Hours in which the Island accepts new jobs, in local time, separated by commas: 22:00-07:00, 12:00-13:00. Running jobs finish",
  }),
  gpu: setting.choice("gpu", ["auto", "off"], {
    fallback: "auto",
    meaning: "Whether jobs may use the GPU: auto (if the machine has one) or off",
  }),
  sandbox: setting.choice("sandbox", ["require", "auto", "off"], {
    fallback: "auto",
    meaning:
      "Sandbox for native runtimes: require (refuse to run without one), auto (the best that works; Linux only) or off",
  }),
});

const ENGINES = settingGroup("Engines", {
  engineUrls: setting.parsed("engines.urls", {
    fallback: null,
    unsetMeans: "no engine is lent",
    type: "<urls>",
    allowed: "one or more http or https URLs, separated by commas",
    parse: readEngineUrls,
    meaning: "URLs of engines whose models this Island lends, such as Ollama, separated by commas. See island engines",
  }),
  engineApiKey: setting.text("engines.api_key", {
    fallback: null,
    isSecret: true,
    meaning: "API key of the engines, if they require one. It is sent only to them",
  }),
  engineSlots: setting.integer("engines.slots", {
    min: 1,
    max: 1_000,
    fallback: null,
    unsetMeans: "as many as the engine reports, or as measured",
    meaning: "Number of jobs that each engine runs at the same time",
  }),
  engineCommand: setting.parsed("engines.command", {
    fallback: null,
    unsetMeans: "GGUF models run in the agent's own llama.cpp",
    type: "<command>",
    allowed: "a command with {model} and either {socket} or {port}, and perhaps {slots} and {context}",
    parse: readEngineCommand,
    meaning:
      'Command that starts llama-server for GGUF models, such as "llama-server -m {model} --host {socket} -np {slots} -c {context}". See island engines',
  }),
  enginesAllowRemote: setting.boolean("engines.allow_remote", {
    fallback: false,
    meaning: "Allow engines on other machines. Prompts then leave this machine, and others can read them without https",
  }),
});

const MODELS = settingGroup("Models", {
  diskBudgetBytes: gigabytes("models.disk_budget_gb", {
    min: 0,
    fallback: 50,
    meaning: "Maximum disk space for models",
  }),
  minFreeBytes: gigabytes("models.min_free_gb", {
    min: 0,
    fallback: 5,
    meaning: "Disk space that downloads of models and images leave free",
  }),
  preload: setting.boolean("models.preload", {
    fallback: true,
    meaning: "Download the models that the network needs most before jobs need them, within the disk budget",
  }),
  hubEndpoint: setting.url("models.hub_endpoint", {
    fallback: DEFAULT_HUB_ENDPOINT,
    meaning: "URL of the model hub or of a mirror, for hf: addresses",
  }),
  hubToken: setting.text("models.hub_token", {
    fallback: null,
    isSecret: true,
    meaning: "Access token for gated models. It is sent only to the hub",
  }),
  allowPrivateAddresses: setting.boolean("models.allow_private_addresses", {
    fallback: false,
    meaning: "Allow model downloads from addresses in the local network",
  }),
});

const CONTAINERS = settingGroup("Containers", {
  containersEnabled: setting.boolean("containers.enabled", {
    fallback: true,
    meaning: "Run containers if Docker or Podman is available",
  }),
  containerRegistries: setting.parsed("containers.registries", {
    fallback: null,
    unsetMeans: DEFAULT_REGISTRIES.join(", "),
    type: "<registries>",
    allowed: "registries such as docker.io, ghcr.io/owner, separated by commas",
    parse: readRegistries,
    meaning: "Registries from which images may be pulled: host or host/path, separated by commas",
  }),
  containersNetwork: setting.boolean("containers.network", {
    fallback: false,
    meaning:
      "Give containers access to the public internet, but never to private addresses, if their Cargo requests it",
  }),
  containersDns: setting.parsed("containers.dns", {
    fallback: null,
    unsetMeans: DEFAULT_NAME_SERVERS.join(", "),
    type: "<addresses>",
    allowed: "public addresses of name servers, separated by commas",
    parse: (text) => readList(text, (address) => !isPrivateAddress(address)),
    meaning: "Name servers for containers with a network",
  }),
  containersGpu: setting.boolean("containers.gpu", {
    fallback: true,
    meaning: "Give containers access to the GPU if their Cargo requests it",
  }),
  containersGpuDevices: setting.parsed("containers.gpu_devices", {
    fallback: null,
    unsetMeans: "all GPUs",
    type: "<devices>",
    allowed: "GPUs or parts of them, separated by commas: 0, GPU-…, MIG-… or CDI names such as nvidia.com/gpu=0",
    parse: (text) => readList(text, isGpuDevice),
    meaning:
      "GPUs for containers, separated by commas. Each container gets one. If unset, each container gets all GPUs, and a Cargo runs one job at a time",
  }),
  containersRuntime: setting.parsed("containers.runtime", {
    fallback: null,
    unsetMeans: "the engine's default",
    type: "<name>",
    allowed: "the name of a runtime that the engine knows, such as runsc",
    parse: (text) => (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(text) ? text : undefined),
    meaning: "Container runtime that the engine uses, such as runsc",
  }),
  containersDiskBudgetBytes: gigabytes("containers.disk_budget_gb", {
    min: 0,
    fallback: 20,
    meaning: "Maximum disk space for images, in addition to the models",
  }),
});

const CARGOS = settingGroup("Cargos", {
  allowRuntimes: names("cargos.allow_runtimes", RUNTIME_TYPES, "all", "Runtimes that may run here"),
  denyRuntimes: names("cargos.deny_runtimes", RUNTIME_TYPES, "none", "Runtimes that may not run here"),
  allowCategories: names("cargos.allow_categories", CARGO_CATEGORIES, "all", "Categories that may run here"),
  denyCategories: names("cargos.deny_categories", CARGO_CATEGORIES, "none", "Categories that may not run here"),
  signedBy: setting.parsed("cargos.signed_by", {
    fallback: null,
    unsetMeans: "only the coordinator must sign",
    type: "<keys>",
    allowed: "Ed25519 public keys of 32 bytes in base64, separated by commas",
    parse: (text) => readList(text, (key) => readPublicKey(key) !== undefined),
    meaning:
      "Public keys in base64, separated by commas. Only approved Cargos that one of these keys also signed run here. Unapproved Cargos of this account do not run",
  }),
});

const CAPS = settingGroup("Caps", {
  capRamBytes: gigabytes("caps.ram_gb", {
    min: 0.1,
    fallback: null,
    unsetMeans: "RAM minus the owner's share: 2 GB, or 15 % if that is more, but at most half",
    meaning: "Maximum RAM for jobs",
  }),
  capVramBytes: gigabytes("caps.vram_gb", {
    min: 0,
    fallback: null,
    unsetMeans: "no cap",
    meaning: "Maximum VRAM for jobs",
  }),
  capCpuCores: setting.integer("caps.cpu_cores", {
    min: 1,
    max: 1_024,
    fallback: null,
    unsetMeans: "no cap",
    meaning: "Maximum number of CPU cores for jobs",
  }),
});

const HARDWARE = settingGroup("Hardware", {
  hardwareRamBytes: gigabytes("hardware.ram_gb", {
    min: 0.1,
    fallback: null,
    unsetMeans: "detected",
    meaning: "RAM of this machine, if detection is wrong",
  }),
  hardwareVramBytes: gigabytes("hardware.vram_gb", {
    min: 0,
    fallback: null,
    unsetMeans: "detected",
    meaning: "VRAM of this machine, if detection is wrong",
  }),
  hardwarePhysicalCores: setting.integer("hardware.physical_cores", {
    min: 1,
    max: 4_096,
    fallback: null,
    unsetMeans: "detected",
    meaning: "Physical CPU cores of this machine, if detection is wrong",
  }),
});

const LOG = settingGroup("Log", { logLevel: LOG_LEVEL_SETTING, logFormat: LOG_FORMAT_SETTING });

/** All keys of config.toml, in the order of `island config get`. Defaults and ranges are defined only here. */
export const AGENT_SETTINGS = {
  ...COORDINATOR,
  ...JOBS,
  ...ENGINES,
  ...MODELS,
  ...CONTAINERS,
  ...CARGOS,
  ...CAPS,
  ...HARDWARE,
  ...LOG,
};

/** Defines a comma-separated list of names from `known`. */
function names(key: string, known: readonly string[], unsetMeans: string, meaning: string): Setting<string[] | null> {
  const allowed = `a list of ${known.join(", ")}, separated by commas`;
  return setting.parsed(key, {
    fallback: null,
    unsetMeans,
    type: "<names>",
    allowed,
    parse: (text) => readList(text, (name) => known.includes(name)),
    meaning: `${meaning}. Names: ${known.join(", ")}`,
  });
}

/** Returns the parts of a comma-separated text; undefined if one is invalid. */
function readList(text: string, isValid: (part: string) => boolean): string[] | undefined {
  const parts = text.split(",").map((part) => part.trim());
  return parts.length <= MAX_LIST_ITEMS && parts.every(isValid) ? parts : undefined;
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

/** Returns base URLs without trailing slash and API path, without duplicates. */
function readAddresses(text: string): string[] | undefined {
  const parts = readList(text, (part) => readBaseUrl(part) !== undefined);
  return parts && [...new Set(parts.map((part) => coordinatorAddress(readBaseUrl(part) ?? "")))];
}

/** Returns base URLs of engines without trailing slash and `/v1`, without duplicates. */
export function readEngineUrls(text: string): string[] | undefined {
  const parts = readList(text, (part) => readBaseUrl(part) !== undefined);
  return parts && [...new Set(parts.map((part) => (readBaseUrl(part) ?? "").replace(/\/v1$/, "")))];
}

/** Returns the words of a command, in which quotes keep spaces; undefined unless it names the model and one address. */
function readEngineCommand(text: string): string[] | undefined {
  const words = (text.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replace(/^"(.*)"$/s, "$1"));
  const placeholders = words.flatMap((word) => word.match(/\{\w*\}/g) ?? []);
  const areKnown = placeholders.every((name) => ENGINE_PLACEHOLDERS.has(name));
  const hasOneAddress = placeholders.includes("{socket}") !== placeholders.includes("{port}");
  return areKnown && hasOneAddress && placeholders.includes("{model}") ? words : undefined;
}
const ENGINE_PLACEHOLDERS = new Set(["{model}", "{socket}", "{port}", "{slots}", "{context}"]);

/** Returns whether the text is an Island token: `it_` and 40 more characters. */
export function isIslandToken(text: string): boolean {
  return /^it_[0-9A-Za-z]{40}$/.test(text);
}

function islandToken(key: string, options: { readonly meaning: string }): Setting<string | null> {
  return {
    ...setting.text(key, { ...options, fallback: null, isSecret: true, type: "<it_…>" }),
    allowed: "an Island token: it_ and 40 letters and digits",
    check: (native) => (typeof native === "string" && isIslandToken(native) ? native : undefined),
  };
}

function publicKey(key: string, options: { readonly meaning: string }): Setting<string | null> {
  return {
    ...setting.text(key, { ...options, fallback: null, type: "<key>" }),
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
