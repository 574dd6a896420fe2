import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { CLUSTER_SETTINGS } from "./cluster-settings.ts";
import { DEFAULT_CARGO_SETTINGS } from "./default-cargo-settings.ts";
import { MEMORY_SETTINGS } from "./memory-settings.ts";
import { describeUnknown, unknownVariables } from "../../shared/cli/unknown-variables.ts";
import { cargoSlugSchema } from "../../shared/cargo.ts";
import { LOG_FORMAT_SETTING } from "../../shared/cli/log-format.ts";
import { LOG_LEVELS } from "../../shared/logger.ts";
import {
  describeSettings,
  resolveSettings,
  setting,
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
/** `openToAll`: where everybody on the network may register, a grant must not be worth an address. */
const NEW_ACCOUNT_CREDITS = { usual: 10_000, openToAll: 10 } as const;
const TRANSPORTS = ["node", "uws"] as const;
const ENV_PREFIX = "ATOLL_";

const MAX_ALIASES = 200;
/** Names as other services have them: `gpt-4o-mini`, `claude-sonnet-4@20250514`, `meta-llama/Llama-3.1:free`. */
const ALIAS = /^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}$/;

/** Names of Cargos by other names for them: a table in the file, `name=slug,name=slug` in a flag or variable. */
const MODEL_ALIASES_SETTING: Setting<ReadonlyMap<string, string>> = {
  key: "model_aliases",
  meaning: "Other names for Cargos, such as gpt-4o-mini, by which clients may ask for them",
  allowed: `a table (in text: name=slug,…) of at most ${MAX_ALIASES} names of 1 to 100 letters, digits and . _ : / @ -, each with a slug`,
  fallback: "",
  unsetMeans: "llm-chat and sdxl alone",
  isSecret: false,
  isHidden: false,
  isTable: true,
  fromText: (text) => text,
  check(native) {
    // Not yet known to be texts; checked below.
    const pairs = typeof native === "string" ? pairsOf(native) : pairsOfTable(native);
    if (pairs === undefined) return undefined;
    const aliases = new Map<string, string>();
    for (const [name, slug] of pairs) {
      if (!ALIAS.test(name) || !cargoSlugSchema.safeParse(slug).success || aliases.has(name)) return undefined;
      aliases.set(name, slug);
    }
    return aliases.size <= MAX_ALIASES ? aliases : undefined;
  },
};

/** Every key of the coordinator, in the order of the docs. Defaults and ranges are only here. */
const COORDINATOR_SETTINGS = {
  host: setting.text("host", {
    fallback: "127.0.0.1",
    meaning: "Address to listen on; 0.0.0.0 for all addresses of the machine",
  }),
  port: setting.integer("port", {
    min: 0,
    max: 65_535,
    fallback: 8080,
    meaning: "Port to listen on; 0 lets the system choose",
  }),
  transport: setting.choice("transport", TRANSPORTS, {
    fallback: "node",
    meaning: "What serves HTTP and WebSockets: Node.js, or uWebSockets.js, which the operator installs",
  }),
  transportModule: setting.text("uws_module", {
    fallback: "uWebSockets.js",
    meaning: "For transport = uws: the package uWebSockets.js, by its name or the path of its folder",
  }),
  dataDirectory: setting.text("data_directory", { fallback: "./atoll-data", meaning: "Where the database is kept" }),
  minFreeDiskBytes: setting.number("min_free_disk_mb", {
    min: 0,
    max: 1_000_000,
    factor: MIB,
    fallback: 100,
    meaning:
      "With less free space on the disk of the data directory nothing new is accepted; what runs is still stored",
  }),
  ...CLUSTER_SETTINGS,
  publicUrl: setting.url("public_url", {
    fallback: null,
    unsetMeans: "taken from each request",
    meaning: "Address at which clients and Islands reach the coordinator, without /api/v1",
  }),
  ...DEFAULT_CARGO_SETTINGS,
  modelAliases: MODEL_ALIASES_SETTING,
  newAccountMicro: setting.number("new_account_credits", {
    min: 0,
    max: 1_000_000,
    factor: MICRO_PER_CREDIT,
    fallback: null,
    unsetMeans: `${NEW_ACCOUNT_CREDITS.usual}; ${NEW_ACCOUNT_CREDITS.openToAll} where everybody may register over the network`,
    meaning: "Credits that a new account gets",
  }),
  networkFee: setting.number("network_fee", {
    min: 0,
    max: 1,
    fallback: 0.1,
    meaning: "Share of a job's price that the network keeps; the rest goes to the Island's owner",
  }),
  registration: setting.choice("registration", REGISTRATIONS, {
    fallback: null,
    unsetMeans: "open if only this machine can reach the coordinator; elsewhere it must be set",
    meaning: "Who may register an account: everybody, whoever proves an e-mail address, or only the operator",
  }),
  /** On by default: catalog, prices and announcements are public in any case; it adds how many Islands are online. */
  publicPage: setting.boolean("public_page", {
    fallback: true,
    meaning: "Show visitors without an account what the network runs, its prices and how many Islands are online",
  }),
  smtpUrl: setting.text("smtp_url", {
    fallback: null,
    isSecret: true,
    meaning: "Mail server, smtp://user:password@host:587 or smtps://…:465; for registration = email",
  }),
  mailFrom: setting.text("mail_from", { fallback: null, meaning: "Sender of mails: an address, or Name <address>" }),
  metricsToken: setting.text("metrics_token", {
    fallback: null,
    isSecret: true,
    unsetMeans: "metrics are open if only this machine can reach the coordinator, and off elsewhere",
    meaning: "Token that /metrics asks for, as Authorization: Bearer",
  }),
  tracesUrl: setting.url("traces_url", {
    fallback: null,
    unsetMeans: "no traces are made",
    meaning: "Collector that traces of jobs are sent to, by OTLP over HTTP, without /v1/traces",
  }),
  tracesShare: setting.number("traces_share", {
    min: 0,
    max: 1,
    fallback: 1,
    meaning: "Share of the jobs that are traced; a client's traceparent decides for its own",
  }),
  islandGraceMs: seconds("island_grace_s", {
    min: 0,
    max: 3_600,
    fallback: 15,
    meaning: "How long a lost Island may take to come back before its jobs go elsewhere",
  }),
  restartGraceMs: seconds("restart_grace_s", {
    min: 0,
    max: 3_600,
    fallback: 45,
    meaning: "The same after a restart of the coordinator; Islands try to connect at intervals of up to 30 s",
  }),
  heartbeatMs: seconds("heartbeat_s", {
    min: 0.01,
    max: 3_600,
    fallback: 10,
    meaning: "How often an Island reports; it counts as lost when nothing is heard for 2.5 of these intervals",
  }),
  islandSessionsPerToken: setting.integer("island_sessions_per_token", {
    min: 1,
    max: 100_000,
    fallback: 50,
    meaning: "Islands that may be connected at once with the same Island token",
  }),
  islandSessionsPerAccount: setting.integer("island_sessions_per_account", {
    min: 1,
    max: 100_000,
    fallback: 100,
    meaning: "Islands of one account that may be connected at once",
  }),
  chatWaitMs: seconds("chat_wait_s", {
    min: 0,
    max: 3_600,
    fallback: 60,
    meaning: "How long a chat completion waits for an Island before it fails",
  }),
  maxAttempts: setting.integer("max_attempts", {
    min: 1,
    max: 100,
    fallback: 3,
    meaning: "Attempts of a job before it fails; another attempt follows when its Island is lost",
  }),
  islandBackoffMs: seconds("island_backoff_s", {
    min: 0.001,
    max: 3_600,
    fallback: 1,
    meaning:
      "First pause of an Island after it refused or failed a job of a Cargo; it doubles with each further one, to 10 minutes",
  }),
  chatShare: setting.number("chat_share", {
    min: 0.01,
    max: 0.99,
    fallback: 0.5,
    meaning: "Share of the slots' time that chats get at least while both chats and other jobs wait",
  }),
  priorityPrice: setting.number("priority_price", {
    min: 1,
    max: 1_000,
    fallback: 1,
    meaning: "Price of a job of priority 100, as a multiple of its Cargo's price; lower priorities in proportion",
  }),
  accountDailyBytes: megabytes(
    "account_mb_per_day",
    4_096,
    "What one account's jobs may store in a day, inputs and outputs; above it, submissions get 429, and the job that makes more fails",
  ),
  acceptLimitMs: phase(
    "accept_limit_s",
    5,
    "How long an Island may take to accept a job; then the attempt is over and another follows",
  ),
  startLimitMs: phase(
    "start_limit_s",
    30,
    "How long an Island may take to begin a job while neither a download nor a load makes progress",
  ),
  firstOutputLimitMs: phase(
    "first_output_limit_s",
    60,
    "How long a chat may run without output and without progress in reading its prompt",
  ),
  silenceLimitMs: phase("silence_limit_s", 60, "How long a chat that has given output may then be silent"),
  feedDelayMs: setting.number("feed_delay_ms", {
    min: 0,
    max: 10_000,
    fallback: 100,
    meaning:
      "Output is stored this long after it was relayed, that of long streams up to ten times as long; 0 stores each piece at once",
  }),
  maxRunMs: seconds("run_limit_s", {
    min: 0.01,
    max: 604_800,
    fallback: 3_600,
    meaning: "Longest run of a job, whatever its Cargo says",
  }),
  sseHeartbeatMs: seconds("sse_heartbeat_s", {
    min: 0.01,
    max: 3_600,
    fallback: 15,
    meaning: "How often a silent stream carries a comment, so that proxies keep it open",
  }),
  publicRequestsPerMinute: setting.integer("public_requests_per_minute", {
    min: 1,
    max: 1_000_000,
    fallback: 300,
    meaning: "Requests without a valid key that one client address may make in a minute",
  }),
  ...MEMORY_SETTINGS,
  filesDirectory: setting.text("files_dir", {
    fallback: null,
    unsetMeans: "files in the data directory",
    meaning: "Where files of accounts are kept; several coordinators need one that they share",
  }),
  fileMaxBytes: megabytes("file_max_mb", 512, "Size of one file that an account may upload"),
  filesBudgetBytes: megabytes(
    "files_budget_mb",
    4_096,
    "Size of all files of one account together; above it, uploads get 413",
  ),
  keepFilesMs: days(
    "keep_files_days",
    30,
    "Files are removed this long after their upload, unless their client asked for less; 0 keeps them",
  ),
  webhookAllowPrivate: setting.boolean("webhook_allow_private", {
    fallback: false,
    meaning: "Also send webhooks to private addresses and over http",
  }),
  webhookRetryMs: seconds("webhook_retry_s", {
    min: 0.01,
    max: 3_600,
    fallback: 5,
    meaning:
      "Time between the first and the second try of a webhook; later tries follow at growing intervals for a day",
  }),
  keepInputsMs: days("keep_inputs_days", 30, "Inputs of ended jobs are removed after this time; 0 keeps them"),
  keepOutputsMs: days(
    "keep_outputs_days",
    30,
    "Outputs and streams of ended jobs are removed after this time; 0 keeps them",
  ),
  keepWebhookLogMs: days(
    "keep_webhook_log_days",
    7,
    "Webhooks that were delivered or given up are forgotten, with their log, after this time; 0 keeps them",
  ),
  keepUnseenIslandsMs: days(
    "keep_unseen_islands_days",
    90,
    "Islands that were not connected for this time are forgotten; 0 keeps them",
  ),
  trustProxy: setting.boolean("trust_proxy", {
    fallback: false,
    meaning: "Take the client's address from X-Forwarded-For; only behind a proxy that sets it",
  }),
  catalogDirectory: setting.text("catalog_directory", {
    fallback: null,
    unsetMeans: "the shipped catalog",
    meaning: "Folder with the Cargos (cargos/*.json) and the models that the coordinator serves (models/)",
  }),
  logLevel: setting.choice("log_level", LOG_LEVELS, { fallback: "info", meaning: "Least level that is logged" }),
  logFormat: LOG_FORMAT_SETTING,
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

function pairsOfTable(native: unknown): [string, string][] | undefined {
  return typeof native === "object" && native !== null && !Array.isArray(native)
    ? Object.entries(native as Record<string, string>)
    : undefined;
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

/** The configuration of a coordinator: frozen, complete, in the program's units (ms, micro-credits). */
export type CoordinatorConfig = Omit<Settings<typeof COORDINATOR_SETTINGS>, "catalogDirectory" | "newAccountMicro"> & {
  readonly catalogDirectory: string;
  readonly newAccountMicro: number;
  /** The line to paste for a command of this program, such as "cargo list", with the flags that find this configuration's data. */
  readonly commandLine: (words: string) => string;
  /** All settings in the units of their keys, with where each comes from; without secrets. */
  readonly inForce: readonly ResolvedSetting[];
};

interface CoordinatorConfigSources {
  /** By camel-cased flag, as commander returns them. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly toml: ConfigFile | null;
  readonly shippedCatalogDirectory: string;
  readonly commandLine?: (words: string) => string;
}

/** A flag wins over an ATOLL_* variable, a variable over the file, the file over the default. @throws {ConfigError} naming every problem. */
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

function bareCommand(words: string): string {
  return `coordinator ${words}`;
}

/** Every key with flag, variable, default and meaning, for help texts and the table in the docs. */
export function describeConfig(): SettingDescription[] {
  return describeSettings(COORDINATOR_SETTINGS, ENV_PREFIX);
}

/** Variables with our prefix that commands, clients and the agent read. */
const OTHERS = [
  "ATOLL_CONFIG",
  "ATOLL_EMAIL",
  "ATOLL_PASSWORD",
  "ATOLL_API_KEY",
  "ATOLL_BASE_URL",
  "ATOLL_ISLAND_DATA",
];

/** A line about ATOLL_* variables that are no settings; null when there are none. */
export function describeUnknownEnv(env: Readonly<Record<string, string | undefined>>): string | null {
  const known = describeConfig().map(({ env: variable }) => variable);
  return describeUnknown(unknownVariables(env, ENV_PREFIX, [...known, ...OTHERS]));
}
