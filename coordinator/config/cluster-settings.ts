import { readFile } from "node:fs/promises";
import { ConfigError, setting, settingGroup, type Settings } from "../../shared/settings.ts";
import type { BusConnection } from "../bus/open-bus.ts";
import type { StoreLocation } from "../store/store-location.ts";

const KEY_BYTES = 32;
const KEY_ADVICE = "32 bytes in base64 or hex (generate one with: openssl rand -hex 32)";

type BusAddress = Pick<BusConnection, "servers" | "user" | "password" | "isTls">;
type BusSettings = "busAddress" | Extract<keyof typeof CLUSTER_SETTINGS, `nats${string}`>;

export const CLUSTER_SETTINGS = settingGroup("Cluster", {
  storeAddress: setting.parsed("store", {
    fallback: null,
    unsetMeans: "the data directory",
    isHidden: true,
    type: "<postgres-url>",
    allowed: "an address that begins with postgres://",
    parse: (text) => (/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined),
    meaning: "PostgreSQL database that holds the data instead of the data directory. Several coordinators can share it",
  }),
  clusterKey: setting.parsed("cluster_key", {
    fallback: null,
    isSecret: true,
    allowed: KEY_ADVICE,
    parse: readClusterKey,
    meaning: "Key that encrypts the secrets in the database: 32 bytes in base64 or hex, the same on all coordinators",
  }),
  clusterKeyFile: setting.text("cluster_key_file", {
    fallback: null,
    type: "<file>",
    meaning: "File that contains cluster_key",
  }),
  busAddress: setting.parsed("bus", {
    fallback: null,
    unsetMeans: "a single coordinator",
    isHidden: true,
    type: "<nats-urls>",
    allowed: "nats://host:port, or several of them separated by commas",
    parse: readBusAddress,
    meaning: "NATS servers that connect the coordinators, separated by commas. Use tls://host:port to require TLS",
  }),
  natsUser: setting.text("nats_user", {
    fallback: null,
    type: "<user>",
    meaning: "User name for NATS, unless the address in bus has one",
  }),
  natsPassword: setting.text("nats_password", {
    fallback: null,
    isSecret: true,
    meaning: "Password for NATS",
  }),
  natsToken: setting.text("nats_token", { fallback: null, isSecret: true, meaning: "Token for NATS" }),
  natsCredentialsFile: setting.text("nats_credentials_file", {
    fallback: null,
    type: "<file>",
    meaning: "Credentials file of a NATS account (nsc generate creds)",
  }),
  natsNkeyFile: setting.text("nats_nkey_file", {
    fallback: null,
    type: "<file>",
    meaning: "File with the seed of a NATS nkey",
  }),
  natsCaFile: setting.text("nats_ca_file", {
    fallback: null,
    unsetMeans: "the authorities that Node.js trusts",
    type: "<file>",
    meaning: "PEM file of the NATS servers' certificate authority. Requires TLS",
  }),
  natsCertFile: setting.text("nats_cert_file", {
    fallback: null,
    type: "<file>",
    meaning: "PEM file of the client certificate, for NATS servers that require one. Requires TLS",
  }),
  natsKeyFile: setting.text("nats_key_file", {
    fallback: null,
    type: "<file>",
    meaning: "PEM file of the private key that belongs to nats_cert_file",
  }),
  peerUrl: setting.url("peer_url", {
    fallback: null,
    unsetMeans: "the address it listens on",
    meaning: "Address at which clients and Islands reach this coordinator directly, bypassing the load balancer",
  }),
  leaseMs: setting.integer("lease_ms", {
    min: 500,
    max: 600_000,
    fallback: 10_000,
    meaning: "Lifetime of a coordinator's lease. When it expires, other coordinators take over its jobs",
  }),
  leaseRenewMs: setting.integer("lease_renew_ms", {
    min: 50,
    max: 60_000,
    fallback: 2_000,
    meaning: "Interval at which a coordinator renews its lease; at most half of lease_ms",
  }),
});

type ClusterSettings = Settings<typeof CLUSTER_SETTINGS>;

/** Checks settings that depend on each other. @throws {ConfigError} */
export function assertCluster(settings: ClusterSettings): void {
  const { storeAddress, busAddress, leaseMs, leaseRenewMs, natsCertFile, natsKeyFile } = settings;
  if (busAddress !== null && storeAddress === null) {
    throw new ConfigError(["bus: requires store, the database that the coordinators share. Set store, or unset bus"]);
  }
  if ((natsCertFile === null) !== (natsKeyFile === null)) {
    throw new ConfigError([
      "nats_cert_file, nats_key_file: must both be set or both be unset, because a certificate requires its private key",
    ]);
  }
  const identities = Object.entries({
    nats_user: settings.natsUser ?? busAddress?.user ?? null,
    nats_token: settings.natsToken,
    nats_nkey_file: settings.natsNkeyFile,
    nats_credentials_file: settings.natsCredentialsFile,
  }).flatMap(([key, value]) => (value === null ? [] : [key]));
  if (busAddress !== null && identities.length > 1)
    throw new ConfigError([`${identities.join(", ")}: at most one may be set`]);
  if (leaseRenewMs * 2 > leaseMs) {
    throw new ConfigError([`lease_renew_ms: must be at most half of lease_ms (${leaseMs}), got ${leaseRenewMs}`]);
  }
}

/** Returns the database if `store` is set, otherwise the data directory. @throws {ConfigError} without a cluster key */
export async function storeLocationOf(
  config: Pick<ClusterSettings, "storeAddress" | "clusterKey" | "clusterKeyFile"> & { readonly dataDirectory: string },
): Promise<StoreLocation> {
  const { storeAddress: address, clusterKey, clusterKeyFile, dataDirectory } = config;
  if (address === null) return dataDirectory;
  if (clusterKey !== null) return { address, key: clusterKey };
  if (clusterKeyFile === null) {
    throw new ConfigError([
      `cluster_key: required with store. It must be ${KEY_ADVICE}`,
      "Set ATOLL_CLUSTER_KEY, or set cluster_key_file to the path of a file that contains it. Use the same key on all coordinators",
    ]);
  }
  return { address, key: await readKeyFile(clusterKeyFile) };
}

/** Reads a cluster key from a file. @throws {ConfigError} if the file does not contain one */
export async function readKeyFile(file: string): Promise<Buffer> {
  const key = readClusterKey((await readFile(file, "utf8")).trim());
  if (key === undefined) throw new ConfigError([`${file}: must contain a cluster key: ${KEY_ADVICE}`]);
  return key;
}

/** Returns servers and credentials of NATS; null for a coordinator without a bus. */
export function busConnectionOf(config: Pick<ClusterSettings, BusSettings>): BusConnection | null {
  const { busAddress } = config;
  if (busAddress === null) return null;
  return {
    ...busAddress,
    user: busAddress.user ?? config.natsUser,
    password: busAddress.password ?? config.natsPassword,
    token: config.natsToken,
    credentialsFile: config.natsCredentialsFile,
    nkeyFile: config.natsNkeyFile,
    caFile: config.natsCaFile,
    certFile: config.natsCertFile,
    keyFile: config.natsKeyFile,
  };
}

function readClusterKey(text: string): Buffer | undefined {
  if (/^[\da-f]{64}$/i.test(text)) return Buffer.from(text, "hex");
  const bytes = /^[\w+/-]{43}=?$/.test(text) ? Buffer.from(text, "base64") : null;
  return bytes?.length === KEY_BYTES ? bytes : undefined;
}

function readBusAddress(text: string): BusAddress | undefined {
  const urls = text.split(",").map((each) => URL.parse(each.trim()));
  const [first] = urls;
  if (first === null || first === undefined) return undefined;
  const servers: string[] = [];
  for (const url of urls) {
    if (url === null || !/^(nats|tls):$/.test(url.protocol) || url.hostname === "") return undefined;
    servers.push(url.port === "" ? url.hostname : `${url.hostname}:${url.port}`);
  }
  const part = (value: string): string | null => (value === "" ? null : decodeURIComponent(value));
  return {
    servers,
    user: part(first.username),
    password: part(first.password),
    isTls: urls.every((url) => url?.protocol === "tls:"),
  };
}
