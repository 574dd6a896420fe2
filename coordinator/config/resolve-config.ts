import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { MODEL_ALIASES_SETTING } from "./alias-setting.ts";
import { CLUSTER_SETTINGS } from "./cluster-settings.ts";
import { FILE_SETTINGS } from "./file-settings.ts";
import { DEFAULT_CARGO_SETTINGS } from "./default-cargo-settings.ts";
import { MEMORY_SETTINGS } from "./memory-settings.ts";
import { PHASE_SETTINGS } from "./phase-settings.ts";
import { TELEMETRY_SETTINGS } from "./telemetry-settings.ts";
import { LOG_FORMAT_SETTING } from "../../shared/cli/log-format.ts";
import { LOG_LEVELS } from "../../shared/logger.ts";
import {
  describeSettings,
  resolveSettings,
  setting,
  type ConfigFile,
  type ResolvedSetting,
  type SettingDescription,
  type Settings,
} from "../../shared/settings.ts";
import { isExposed, PUBLIC_PAGE_SETTING, REGISTRATIONS } from "./exposure.ts";

const MS_PER_S = 1_000;
const MS_PER_DAY = 86_400_000;
/** `openToAll`: where everybody on the network may register, a grant must not be worth an address. */
const NEW_ACCOUNT_CREDITS = { usual: 10_000, openToAll: 10 } as const;
const TRANSPORTS = ["node", "uws"] as const;
const ENV_PREFIX = "ATOLL_";

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
  publicPage: PUBLIC_PAGE_SETTING,
  smtpUrl: setting.text("smtp_url", {
    fallback: null,
    isSecret: true,
    meaning: "Mail server, smtp://user:password@host:587 or smtps://…:465; for registration = email",
  }),
  mailFrom: setting.text("mail_from", { fallback: null, meaning: "Sender of mails: an address, or Name <address>" }),
  ...TELEMETRY_SETTINGS,
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
  accountDailyBytes: setting.number("account_mb_per_day", {
    min: 1,
    max: 1_048_576,
    factor: MIB,
    fallback: 4_096,
    meaning:
      "What one account's jobs may store in a day, inputs and outputs; above it, submissions get 429, and the job that makes more fails",
  }),
  ...PHASE_SETTINGS,
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
  ...FILE_SETTINGS,
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

function seconds(key: string, options: { min: number; max: number; fallback: number; meaning: string }) {
  return setting.number(key, { ...options, factor: MS_PER_S });
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

export interface CoordinatorConfigSources {
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
