import { MICRO_PER_CREDIT } from "../credits/micro-credits.ts";
import { LOG_LEVELS } from "../../shared/logger.ts";
import {
  describeSettings,
  resolveSettings,
  setting,
  type ConfigFile,
  type SettingDescription,
  type Settings,
} from "../../shared/settings.ts";
import { isExposed, REGISTRATIONS } from "./exposure.ts";

const MS_PER_S = 1_000;
/** `openToAll`: where everybody on the network may register, a grant must not be worth an address. */
const NEW_ACCOUNT_CREDITS = { usual: 10_000, openToAll: 10 } as const;
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
  dataDirectory: setting.text("data_directory", { fallback: "./atoll-data", meaning: "Where the database is kept" }),
  publicUrl: setting.url("public_url", {
    fallback: null,
    unsetMeans: "taken from each request",
    meaning: "Address at which clients and Islands reach the coordinator, without /api/v1",
  }),
  defaultChatCargo: setting.text("default_chat_cargo", {
    fallback: "tiny-chat",
    meaning: "Cargo of a chat completion that names no model",
  }),
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
  islandGraceMs: seconds("island_grace_s", {
    min: 0,
    max: 3_600,
    fallback: 15,
    meaning: "How long a lost Island may take to come back before its jobs go elsewhere",
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
};

function seconds(key: string, options: { min: number; max: number; fallback: number; meaning: string }) {
  return setting.number(key, { ...options, factor: MS_PER_S });
}

/** The configuration of a coordinator: frozen, complete, in the program's units (ms, micro-credits). */
export type CoordinatorConfig = Omit<Settings<typeof COORDINATOR_SETTINGS>, "catalogDirectory" | "newAccountMicro"> & {
  readonly catalogDirectory: string;
  readonly newAccountMicro: number;
};

export interface CoordinatorConfigSources {
  /** By the camel-cased name of the flag, as commander returns them. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly toml: ConfigFile | null;
  readonly shippedCatalogDirectory: string;
}

/** A flag wins over an ATOLL_* variable, a variable over the file, the file over the default. @throws {ConfigError} naming every problem. */
export function resolveConfig(sources: CoordinatorConfigSources): CoordinatorConfig {
  const { flags, env, toml, shippedCatalogDirectory } = sources;
  const { values } = resolveSettings(COORDINATOR_SETTINGS, ENV_PREFIX, { flags, env, file: toml });
  const isOpenToAll = values.registration === "open" && isExposed(values);
  const { usual, openToAll } = NEW_ACCOUNT_CREDITS;
  return Object.freeze({
    ...values,
    catalogDirectory: values.catalogDirectory ?? shippedCatalogDirectory,
    newAccountMicro: values.newAccountMicro ?? (isOpenToAll ? openToAll : usual) * MICRO_PER_CREDIT,
  });
}

/** Every key with flag, variable, default and meaning, for help texts and the table in the docs. */
export function describeConfig(): SettingDescription[] {
  return describeSettings(COORDINATOR_SETTINGS, ENV_PREFIX);
}
