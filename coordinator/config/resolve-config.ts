import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { CLUSTER_SETTINGS } from "./cluster-settings.ts";
import { DEFAULT_CARGO_SETTINGS } from "./default-cargo-settings.ts";
import { MEMORY_SETTINGS } from "./memory-settings.ts";
import { describeUnknown, unknownVariables } from "../../shared/cli/unknown-variables.ts";
import { DECLARED_PREFIX } from "../../shared/model-address.ts";
import { cargoSlugSchema } from "../../shared/cargo.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import { LOG_FORMAT_SETTING, LOG_LEVEL_SETTING } from "../../shared/cli/log-settings.ts";
import {
  describeSettings,
  resolveSettings,
  setting,
  settingGroup,
  type ConfigFile,
  type ResolvedSetting,
  type Setting,
  type SettingDescription,
  type Settings,
} from "../../shared/settings.ts";
import { isExposed, REGISTRATIONS } from "./exposure.ts";

const MS_PER_S = 1_000;
const MS_PER_DAY = 86_400_000;
const MAX_MB = 1_048_576;
/** Credits of a new account. With open registration on a network, they must not make creating accounts worthwhile. */
const NEW_ACCOUNT_CREDITS = { usual: 10_000, openToAll: 10 } as const;
const TRANSPORTS = ["node", "uws"] as const;
const ENV_PREFIX = "ATOLL_";

const MAX_ALIASES = 200;
/** Pattern of aliases, such as `gpt-4o-mini`, `claude-sonnet-4@20250514`, `meta-llama/Llama-3.1:free`. */
const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/;

/** Setting `model_aliases`: a table in the file, `name=slug,name=slug` in a flag or variable. */
const MODEL_ALIASES_SETTING: Setting<ReadonlyMap<string, string>> = {
  key: "model_aliases",
  meaning: "Additional names for Cargos, such as gpt-4o-mini=tiny-chat. Clients can use them as model names",
  type: "<name=slug,…>",
  allowed: `a table (as text: name=slug,…) of at most ${MAX_ALIASES} names of 1 to 100 letters, digits and . _ : / @ -, each with a slug that does not begin with ${DECLARED_PREFIX}`,
  fallback: "",
  unsetMeans: "only llm-chat and sdxl",
  isSecret: false,
  isHidden: false,
  isTable: true,
  fromText: (text) => text,
  check(native) {
    if (typeof native !== "string" && !isJsonObject(native)) return undefined;
    const pairs = typeof native === "string" ? pairsOf(native) : Object.entries(native);
    const aliases = new Map<string, string>();
    for (const [name, value] of pairs) {
      const { data: slug } = cargoSlugSchema.safeParse(value);
      // An alias would hide from clients that the model is only declared.
      if (slug === undefined || slug.startsWith(DECLARED_PREFIX)) return undefined;
      if (!ALIAS.test(name) || aliases.has(name)) return undefined;
      aliases.set(name, slug);
    }
    return aliases.size <= MAX_ALIASES ? aliases : undefined;
  },
};

const LISTENING = settingGroup("Listening", {
  host: setting.text("host", {
    fallback: "127.0.0.1",
    type: "<address>",
    meaning: "IP address or host name to listen on. 0.0.0.0 listens on all addresses of this machine",
  }),
  port: setting.integer("port", {
    min: 0,
    max: 65_535,
    fallback: 8080,
    type: "<port>",
    meaning: "Port to listen on. 0 lets the system choose a free port",
  }),
  publicUrl: setting.url("public_url", {
    fallback: null,
    unsetMeans: "taken from each request",
    meaning:
      "URL at which clients and Islands reach the coordinator, without /api/v1. Required if they use a host name other than localhost",
  }),
  trustProxy: setting.boolean("trust_proxy", {
    fallback: false,
    meaning: "Read the client's address from X-Forwarded-For. Enable it only behind a proxy that sets this header",
  }),
  publicRequestsPerMinute: setting.integer("public_requests_per_minute", {
    min: 1,
    max: 1_000_000,
    fallback: 300,
    meaning: "Requests without a valid key that each client address may send per minute",
  }),
  transport: setting.choice("transport", TRANSPORTS, {
    fallback: "node",
    meaning: "HTTP and WebSocket server: node (Node.js) or uws (uWebSockets.js, which you install)",
  }),
  transportModule: setting.text("uws_module", {
    fallback: "uWebSockets.js",
    type: "<package>",
    meaning: "Name or directory of the uWebSockets.js package, for transport uws",
  }),
});

const DATA = settingGroup("Data", {
  dataDirectory: setting.text("data_directory", {
    fallback: "./atoll-data",
    type: "<directory>",
    meaning: "Directory of the database and the keys",
  }),
  minFreeDiskBytes: setting.number("min_free_disk_mb", {
    min: 0,
    max: 1_000_000,
    factor: MIB,
    fallback: 100,
    meaning:
      "Free disk space below which the coordinator rejects new jobs and files. Running jobs continue and are stored",
  }),
});

const ACCOUNTS = settingGroup("Accounts and credits", {
  registration: setting.choice("registration", REGISTRATIONS, {
    fallback: null,
    unsetMeans: "open if only this machine can reach the coordinator; otherwise you must set it",
    meaning:
      "Registration of accounts: open (anyone), email (requires a confirmed e-mail address) or closed (only operators create accounts)",
  }),
  publicPage: setting.boolean("public_page", {
    fallback: true,
    meaning: "Show visitors without an account the Cargos, prices, number of online Islands and how to get an account",
  }),
  smtpUrl: setting.text("smtp_url", {
    fallback: null,
    isSecret: true,
    type: "<smtp-url>",
    meaning: "Mail server for registration by e-mail: smtp://user:password@host:587 or smtps://user:password@host:465",
  }),
  mailFrom: setting.text("mail_from", {
    fallback: null,
    type: "<e-mail>",
    meaning: "Sender of e-mails: an address, or Name <address>",
  }),
  newAccountMicro: setting.number("new_account_credits", {
    min: 0,
    max: 1_000_000,
    factor: MICRO_PER_CREDIT,
    fallback: null,
    unsetMeans: `${NEW_ACCOUNT_CREDITS.usual}, or ${NEW_ACCOUNT_CREDITS.openToAll} with open registration over the network`,
    type: "<credits>",
    meaning: "Credits of a new account",
  }),
  networkFee: setting.number("network_fee", {
    min: 0,
    max: 1,
    fallback: 0.1,
    type: "<0..1>",
    meaning: "Share of a job's price that the network keeps. The Island's owner gets the rest",
  }),
  auditShare: setting.number("audit_share", {
    min: 0,
    max: 1,
    fallback: 0.03,
    type: "<0..1>",
    meaning: "Maximum share of all work that audits of proven owners take",
  }),
  priorityPrice: setting.number("priority_price", {
    min: 1,
    max: 1_000,
    fallback: 1,
    type: "<factor>",
    meaning:
      "Price of a job with priority 100, as a multiple of the Cargo's price. Priority 0 costs the Cargo's price; the price grows linearly between them",
  }),
});

export const DEFAULT_HUB = "https://huggingface.co";

const CARGOS = settingGroup("Cargos and models", {
  catalogDirectory: setting.text("catalog_directory", {
    fallback: null,
    unsetMeans: "the shipped catalog",
    type: "<directory>",
    meaning: "Directory of the catalog: Cargos in cargos/*.json, and models that the coordinator serves in models/",
  }),
  modelAliases: MODEL_ALIASES_SETTING,
  hubUrl: setting.url("hub_url", {
    fallback: DEFAULT_HUB,
    meaning: "Model hub, or a mirror of it, in which models and their pins are looked up",
  }),
  hubToken: setting.text("hub_token", {
    fallback: null,
    isSecret: true,
    type: "<token>",
    meaning: "Access token for looking up gated models. Islands download them with their own models.hub_token",
  }),
});

const ISLANDS = settingGroup("Islands", {
  heartbeatMs: seconds("heartbeat_s", {
    min: 0.01,
    max: 3_600,
    fallback: 10,
    meaning: "Interval of the Islands' heartbeats. An Island is lost after 2.5 intervals without a message",
  }),
  islandGraceMs: seconds("island_grace_s", {
    min: 0,
    max: 3_600,
    fallback: 15,
    meaning: "Grace period in which a lost Island can reconnect before other Islands get its jobs",
  }),
  restartGraceMs: seconds("restart_grace_s", {
    min: 0,
    max: 3_600,
    fallback: 45,
    meaning: "Grace period after a restart of the coordinator. Islands reconnect at intervals of up to 30 s",
  }),
  islandSessionsPerToken: setting.integer("island_sessions_per_token", {
    min: 1,
    max: 100_000,
    fallback: 50,
    meaning: "Maximum connected Islands per Island token",
  }),
  islandSessionsPerAccount: setting.integer("island_sessions_per_account", {
    min: 1,
    max: 100_000,
    fallback: 100,
    meaning: "Maximum connected Islands per account",
  }),
  islandBackoffMs: seconds("island_backoff_s", {
    min: 0.001,
    max: 3_600,
    fallback: 1,
    meaning:
      "How long an Island gets no more jobs of a Cargo after it refused or failed one. Doubles with each failure in a row, up to 10 minutes",
  }),
});

const JOBS = settingGroup("Jobs", {
  maxAttempts: setting.integer("max_attempts", {
    min: 1,
    max: 100,
    fallback: 3,
    meaning:
      "Maximum attempts per job. A new attempt starts when the Island is lost, fails or goes silent, and at most once when the run limit is reached",
  }),
  acceptLimitMs: phase(
    "accept_limit_s",
    5,
    "How long an Island may take to accept a job before the next attempt starts",
  ),
  startLimitMs: phase(
    "start_limit_s",
    30,
    "How long an accepted job may wait to start with no progress in its download or model load",
  ),
  firstOutputLimitMs: phase(
    "first_output_limit_s",
    60,
    "How long a started chat may run with no output and no progress in reading its prompt",
  ),
  silenceLimitMs: phase("silence_limit_s", 60, "Longest pause between two outputs of a chat"),
  maxRunMs: seconds("run_limit_s", {
    min: 0.01,
    max: 604_800,
    fallback: 3_600,
    meaning: "Maximum run time of a job, whatever its Cargo allows",
  }),
  chatWaitMs: seconds("chat_wait_s", {
    min: 0,
    max: 3_600,
    fallback: 60,
    meaning: "How long chats and other requests that return their output wait for an Island before they fail",
  }),
  chatShare: setting.number("chat_share", {
    min: 0.01,
    max: 0.99,
    fallback: 0.5,
    type: "<0..1>",
    meaning: "Minimum share of slot time for chats while both chats and other jobs wait",
  }),
  trialShare: setting.number("trial_share", {
    min: 0,
    max: 0.5,
    fallback: 0.02,
    type: "<0..0.5>",
    meaning: "Maximum share of a Cargo's jobs that go to an Island to measure it, instead of the best one",
  }),
  accountDailyBytes: setting.number("account_mb_per_day", {
    min: 1,
    max: MAX_MB,
    factor: MIB,
    fallback: 4_096,
    type: "<MB>",
    meaning:
      "Input and output that one account's jobs can store per day. Above this limit, new jobs get 429, and a running job that exceeds it fails",
  }),
});

const STREAMS = settingGroup("Streams", {
  feedDelayMs: setting.number("feed_delay_ms", {
    min: 0,
    max: 10_000,
    fallback: 100,
    meaning:
      "Delay between relaying output and storing it, up to ten times as long for long streams. 0 stores each piece at once",
  }),
  sseHeartbeatMs: seconds("sse_heartbeat_s", {
    min: 0.01,
    max: 3_600,
    fallback: 15,
    meaning: "Interval of comments in an idle stream. They keep proxies from closing the connection",
  }),
});

const FILES = settingGroup("Files", {
  filesDirectory: setting.text("files_dir", {
    fallback: null,
    unsetMeans: "files in the data directory",
    type: "<directory>",
    meaning: "Directory of uploaded files. Several coordinators need a shared directory",
  }),
  fileMaxBytes: megabytes("file_max_mb", 512, "Maximum size of one uploaded file"),
  filesBudgetBytes: megabytes(
    "files_budget_mb",
    4_096,
    "Maximum size of all files of one account. Above this limit, uploads get 413",
  ),
  keepFilesMs: days(
    "keep_files_days",
    30,
    "Days until an uploaded file is deleted, unless its client asked for less. 0 keeps files forever",
  ),
});

const RETENTION = settingGroup("Retention", {
  keepInputsMs: days("keep_inputs_days", 30, "Days until the inputs of ended jobs are deleted. 0 keeps them forever"),
  keepOutputsMs: days(
    "keep_outputs_days",
    30,
    "Days until the outputs and streams of ended jobs are deleted. 0 keeps them forever",
  ),
  keepWebhookLogMs: days(
    "keep_webhook_log_days",
    7,
    "Days until delivered and failed webhooks and their log are deleted. 0 keeps them forever",
  ),
  keepUnseenIslandsMs: days(
    "keep_unseen_islands_days",
    90,
    "Days without a connection after which an Island is deleted. 0 keeps Islands forever",
  ),
});

const WEBHOOKS = settingGroup("Webhooks", {
  webhookAllowPrivate: setting.boolean("webhook_allow_private", {
    fallback: false,
    meaning: "Allow webhooks, and images in chats, at private addresses and over http",
  }),
  webhookRetryMs: seconds("webhook_retry_s", {
    min: 0.01,
    max: 3_600,
    fallback: 5,
    meaning:
      "Pause between the first and the second delivery attempt of a webhook. Later pauses grow; attempts stop after a day",
  }),
});

const MONITORING = settingGroup("Monitoring and logs", {
  metricsToken: setting.text("metrics_token", {
    fallback: null,
    isSecret: true,
    unsetMeans: "metrics are open if only this machine can reach the coordinator; otherwise they are off",
    meaning: "Bearer token that /metrics requires",
  }),
  tracesUrl: setting.url("traces_url", {
    fallback: null,
    unsetMeans: "no traces",
    meaning: "OpenTelemetry collector for traces of jobs (OTLP over HTTP), without /v1/traces",
  }),
  tracesShare: setting.number("traces_share", {
    min: 0,
    max: 1,
    fallback: 1,
    type: "<0..1>",
    meaning: "Share of jobs that are traced. A traceparent header from the client overrides it",
  }),
  logLevel: LOG_LEVEL_SETTING,
  logFormat: LOG_FORMAT_SETTING,
});

const COORDINATOR_SETTINGS = {
  ...LISTENING,
  ...DATA,
  ...ACCOUNTS,
  ...CARGOS,
  ...DEFAULT_CARGO_SETTINGS,
  ...ISLANDS,
  ...JOBS,
  ...STREAMS,
  ...MEMORY_SETTINGS,
  ...FILES,
  ...RETENTION,
  ...WEBHOOKS,
  ...CLUSTER_SETTINGS,
  ...MONITORING,
};

function pairsOf(text: string): (readonly [string, string])[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      return at === -1 ? [part, ""] : [part.slice(0, at).trim(), part.slice(at + 1).trim()];
    });
}

function seconds(key: string, options: { min: number; max: number; fallback: number; meaning: string }) {
  return setting.number(key, { ...options, factor: MS_PER_S });
}

function phase(key: string, fallback: number, meaning: string) {
  return seconds(key, { min: 0.01, max: 604_800, fallback, meaning });
}

function megabytes(key: string, fallback: number, meaning: string) {
  return setting.number(key, { min: 1, max: MAX_MB, factor: MIB, fallback, meaning });
}

function days(key: string, fallback: number, meaning: string) {
  return setting.number(key, { min: 0, max: 36_500, factor: MS_PER_DAY, fallback, meaning });
}

/** Frozen configuration, with values in the units of the program (ms, bytes, micro-credits). */
export type CoordinatorConfig = Omit<Settings<typeof COORDINATOR_SETTINGS>, "catalogDirectory" | "newAccountMicro"> & {
  readonly catalogDirectory: string;
  readonly newAccountMicro: number;
  /** Returns the full command line of a command such as "cargo list", with the flags that select this data. */
  readonly commandLine: (words: string) => string;
  /** All settings with their sources, in the units of their keys, without secrets. */
  readonly inForce: readonly ResolvedSetting[];
};

const bareCommand = (words: string): string => `coordinator ${words}`;

interface CoordinatorConfigSources {
  /** Flags by camel-case name, as commander returns them. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly toml: ConfigFile | null;
  readonly shippedCatalogDirectory: string;
  readonly commandLine?: (words: string) => string;
}

/**
 * Resolves the configuration: flags override ATOLL_* variables, which override the file.
 * @throws {ConfigError} with every problem
 */
export function resolveConfig(sources: CoordinatorConfigSources): CoordinatorConfig {
  const { flags, env, toml, shippedCatalogDirectory, commandLine = bareCommand } = sources;
  const { values, resolved } = resolveSettings(COORDINATOR_SETTINGS, ENV_PREFIX, { flags, env, file: toml });
  const isOpenToAll = values.registration === "open" && isExposed(values);
  return Object.freeze({
    ...values,
    catalogDirectory: values.catalogDirectory ?? shippedCatalogDirectory,
    newAccountMicro:
      values.newAccountMicro ?? NEW_ACCOUNT_CREDITS[isOpenToAll ? "openToAll" : "usual"] * MICRO_PER_CREDIT,
    commandLine,
    inForce: resolved,
  });
}

export function describeConfig(): SettingDescription[] {
  return describeSettings(COORDINATOR_SETTINGS, ENV_PREFIX);
}

/** Known ATOLL_* variables that are not settings, but belong to commands, clients or the Island agent. */
const OTHERS = [
  "ATOLL_CONFIG",
  "ATOLL_EMAIL",
  "ATOLL_PASSWORD",
  "ATOLL_API_KEY",
  "ATOLL_BASE_URL",
  "ATOLL_ISLAND_DATA",
];

/** Returns a warning with the unknown ATOLL_* variables; null if all are known. */
export function describeUnknownEnv(env: Readonly<Record<string, string | undefined>>): string | null {
  const known = describeConfig().map(({ env: variable }) => variable);
  return describeUnknown(unknownVariables(env, ENV_PREFIX, [...known, ...OTHERS]));
}
