import { readFile } from "node:fs/promises";
import { posix } from "node:path";

export type EngineAddress =
  | { readonly kind: "socket"; readonly path: string }
  /** `certificates` is a directory with ca.pem, cert.pem and key.pem; null for plain HTTP. */
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly certificates: string | null };

export interface EngineSearch {
  /** The agent's environment: DOCKER_HOST, DOCKER_TLS_VERIFY, DOCKER_CERT_PATH, HOME, XDG_RUNTIME_DIR. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/**
 * Returns the addresses to try, in order: only DOCKER_HOST if it is set, otherwise the default sockets of Docker and
 * Podman.
 * @throws {TypeError} when DOCKER_HOST is not a valid address.
 */
export function engineAddresses({ environment, platform }: EngineSearch): EngineAddress[] {
  const { DOCKER_HOST: host } = environment;
  if (host !== undefined && host !== "") return [parseDockerHost(host, environment)];
  if (platform === "win32")
    return ["docker_engine", "podman-machine-default"].map((name) => socket(`//./pipe/${name}`));
  return usualSockets(environment).map(socket);
}

export function describeAddress(address: EngineAddress): string {
  return address.kind === "socket" ? address.path : `${address.host}:${address.port}`;
}

/** Reads the certificate files of a directory, as options of `node:https`. */
export async function readCertificates(directory: string): Promise<{ ca: Buffer; cert: Buffer; key: Buffer }> {
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readFile(posix.join(directory, name))),
  );
  return { ca: ca as Buffer, cert: cert as Buffer, key: key as Buffer };
}

function usualSockets({ HOME: home, XDG_RUNTIME_DIR: runtime }: EngineSearch["environment"]): string[] {
  return [
    "/var/run/docker.sock",
    ...(runtime === undefined ? [] : [`${runtime}/docker.sock`]),
    ...(home === undefined ? [] : [`${home}/.docker/run/docker.sock`]),
    "/run/podman/podman.sock",
    ...(runtime === undefined ? [] : [`${runtime}/podman/podman.sock`]),
    ...(home === undefined ? [] : [`${home}/.local/share/containers/podman/machine/podman.sock`]),
  ];
}

function socket(path: string): EngineAddress {
  return { kind: "socket", path };
}

function parseDockerHost(text: string, environment: EngineSearch["environment"]): EngineAddress {
  const [, scheme = "tcp", rest = text] = /^([a-z]+):\/\/(.*)$/.exec(text) ?? [];
  if ((scheme === "unix" || scheme === "npipe") && rest !== "") return socket(rest);
  const url = scheme === "tcp" || scheme === "http" || scheme === "https" ? URL.parse(`http://${rest}`) : null;
  if (url === null || url.hostname === "") {
    throw new TypeError("DOCKER_HOST must be unix:///path, npipe:////./pipe/name or tcp://host:port");
  }
  const isTls = scheme === "https" || (environment.DOCKER_TLS_VERIFY ?? "") !== "";
  const directory = environment.DOCKER_CERT_PATH ?? posix.join(environment.HOME ?? "/", ".docker");
  return {
    kind: "tcp",
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(/:(\d+)(?:\/|$)/.exec(rest)?.[1] ?? (isTls ? 2376 : 2375)),
    certificates: isTls ? directory : null,
  };
}
