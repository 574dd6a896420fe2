import { readFile } from "node:fs/promises";
import { ConfigError, setting, type Settings } from "../../shared/settings.ts";
import type { BusPlace } from "../bus/open-bus.ts";
import type { StorePlace } from "../store/store-place.ts";

const KEY_BYTES = 32;
const KEY_ADVICE = "32 bytes in base64 or hex; make one with: openssl rand -hex 32";

type BusAddress = Pick<BusPlace, "servers" | "user" | "password" | "isTls">;
type BusSettings = "busAddress" | Extract<keyof typeof CLUSTER_SETTINGS, `nats${string}`>;

/** Where several coordinators keep what they share, and how they reach each other. Unset: the coordinator is alone. */
export const CLUSTER_SETTINGS = {
  storeAddress: setting.parsed("store", {
    fallback: null,
    unsetMeans: "the data directory",
    isHidden: true,
    allowed: "an address that begins with postgres://",
    parse: (text) => (/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "") ? text : undefined),
    meaning: "PostgreSQL database in place of the data directory, which coordinators can share",
  }),
  clusterKey: setting.parsed("cluster_key", {
    fallback: null,
    isSecret: true,
    allowed: KEY_ADVICE,
    parse: readClusterKey,
    meaning: "With store: seals the secrets in the database. The same for all coordinators; 32 bytes in base64 or hex",
  }),
  clusterKeyFile: setting.text("cluster_key_file", { fallback: null, meaning: "File with cluster_key" }),
  busAddress: setting.parsed("bus", {
    fallback: null,
    unsetMeans: "the coordinator reaches no others",
    isHidden: true,
    allowed: "nats://host:port, or several with commas between",
    parse: readBusAddress,
    meaning: "NATS servers over which coordinators reach each other; tls://host:port for TLS alone",
  }),
  natsUser: setting.text("nats_user", { fallback: null, meaning: "User at the NATS servers, unless bus has one" }),
  natsPassword: setting.text("nats_password", {
    fallback: null,
    isSecret: true,
    meaning: "Password of that user",
  }),
  natsToken: setting.text("nats_token", { fallback: null, isSecret: true, meaning: "Token for the NATS servers" }),
  natsCredentialsFile: setting.text("nats_credentials_file", {
    fallback: null,
    meaning: "File with the credentials of a NATS account (nsc generate creds)",
  }),
  natsNkeyFile: setting.text("nats_nkey_file", {
    fallback: null,
    meaning: "File with the seed of an nkey, which is a user at the NATS servers",
  }),
  natsCaFile: setting.text("nats_ca_file", {
    fallback: null,
    unsetMeans: "the authorities that Node.js trusts",
    meaning: "Certificate authority of the NATS servers, in PEM; asks for TLS",
  }),
  natsCertFile: setting.text("nats_cert_file", {
    fallback: null,
    meaning: "Certificate of the coordinator for NATS servers that ask for one, in PEM; asks for TLS",
  }),
  natsKeyFile: setting.text("nats_key_file", {
    fallback: null,
    meaning: "Private key of nats_cert_file, in PEM",
  }),
  peerUrl: setting.url("peer_url", {
    fallback: null,
    unsetMeans: "its listener",
    meaning: "Address at which Islands and people reach this very coordinator, not the load balancer",
  }),
  leaseMs: setting.integer("lease_ms", {
    min: 500,
    max: 600_000,
    fallback: 10_000,
    meaning: "A coordinator that was not heard for this time is dead: others take its jobs",
  }),
  leaseRenewMs: setting.integer("lease_renew_ms", {
    min: 50,
    max: 60_000,
    fallback: 2_000,
    meaning: "How often a coordinator says that it lives; at most half of lease_ms",
  }),
};

type ClusterSettings = Settings<typeof CLUSTER_SETTINGS>;

/** @throws {ConfigError} if settings do not go together. */
export function assertCluster(settings: ClusterSettings): void {
  const { storeAddress, busAddress, leaseMs, leaseRenewMs, natsCertFile, natsKeyFile } = settings;
  if (busAddress !== null && storeAddress === null) {
    throw new ConfigError(["bus: needs store, a database that the coordinators share"]);
  }
  if ((natsCertFile === null) !== (natsKeyFile === null)) {
    throw new ConfigError([
      "nats_cert_file, nats_key_file: a certificate needs its private key, and a key its certificate",
    ]);
  }
  const identities = Object.entries({
    nats_user: settings.natsUser ?? busAddress?.user ?? null,
    nats_token: settings.natsToken,
    nats_nkey_file: settings.natsNkeyFile,
    nats_credentials_file: settings.natsCredentialsFile,
  }).flatMap(([key, value]) => (value === null ? [] : [key]));
  if (busAddress !== null && identities.length > 1)
    throw new ConfigError([`${identities.join(", ")}: only one of them can be used`]);
  if (leaseRenewMs * 2 > leaseMs) {
    throw new ConfigError([`lease_renew_ms: ${leaseRenewMs} is more than half of lease_ms (${leaseMs})`]);
  }
}

/** Where the data is: the database, or else the data directory. Reads the file of the key. @throws {ConfigError} without a key. */
export async function storePlaceOf(
  config: Pick<ClusterSettings, "storeAddress" | "clusterKey" | "clusterKeyFile"> & { readonly dataDirectory: string },
): Promise<StorePlace> {
  const { storeAddress: address, clusterKey, clusterKeyFile, dataDirectory } = config;
  if (address === null) return dataDirectory;
  if (clusterKey !== null) return { address, key: clusterKey };
  if (clusterKeyFile === null) {
    throw new ConfigError([
      `cluster_key: needed with store, the same for all coordinators: ${KEY_ADVICE}`,
      "Set ATOLL_CLUSTER_KEY, or cluster_key_file to the path of a file with it",
    ]);
  }
  return { address, key: await readKeyFile(clusterKeyFile) };
}

/** The cluster key in a file. @throws {ConfigError} */
export async function readKeyFile(file: string): Promise<Buffer> {
  const key = readClusterKey((await readFile(file, "utf8")).trim());
  if (key === undefined) throw new ConfigError([`${file}: is not a cluster key: ${KEY_ADVICE}`]);
  return key;
}

/** Where the other coordinators are reached; null: there are none. */
export function busPlaceOf(config: Pick<ClusterSettings, BusSettings>): BusPlace | null {
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
