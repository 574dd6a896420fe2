import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { promisify } from "node:util";
import Dockerode from "dockerode";
import { requireDebian } from "./require-debian.ts";
import { makeTar, type TarEntry } from "../tar.ts";

/** A container engine for tests, with the name of a busybox image in it. */
export interface TestEngine {
  /** Address in the format of DOCKER_HOST. */
  readonly host: string;
  readonly docker: Dockerode;
  /**
   * True for a daemon that the tests have started. A test may stop it, and it pulls from a registry on this machine.
   */
  readonly isOwn: boolean;
  /** Process of a daemon that the tests have started. Null for any other engine. */
  readonly pid: number | null;
  stop(): Promise<void>;
}

export const TEST_IMAGE = "docker.io/atoll/busybox:test";
/** Image that declares a volume and a health check. */
export const VOLUME_IMAGE = "docker.io/atoll/busybox:volume";

/** Network settings of a daemon of the tests. */
interface DaemonNetwork {
  /** Command that precedes the daemon's command and replaces itself with the daemon. */
  readonly wrapper: readonly [] | readonly [program: string, ...args: string[]];
  readonly options: readonly string[];
}
/** Settings that do not change the machine's rules and routes. */
const NO_NETWORK: DaemonNetwork = {
  wrapper: [],
  options: ["--iptables=false", "--ip6tables=false", "--ip-forward=false", "--ip-masq=false"],
};
const OWN_NETWORK: DaemonNetwork = { wrapper: ["unshare", "--net"], options: [] };

const NFT = "/usr/sbin/nft";
const DAEMON = "/usr/sbin/dockerd";
const BUSYBOX = "/bin/busybox";
const START_TRIES = 300;
const TRY_MS = 100;

/**
 * Starts a test engine, which is the engine of DOCKER_HOST or a new daemon on a private socket.
 *
 * @throws if neither is available.
 */
export async function startTestEngine(): Promise<TestEngine> {
  requireDebian(BUSYBOX, "busybox-static");
  return open();
}

/**
 * Starts a daemon in a new network namespace with its iptables rules, as on a host. @throws like {@link
 * startTestEngine}.
 */
export async function startHostLikeEngine(): Promise<TestEngine> {
  requireDebian(BUSYBOX, "busybox-static");
  requireDebian(NFT, "nftables");
  return openOwn(OWN_NETWORK);
}

async function open(): Promise<TestEngine> {
  const given = process.env["DOCKER_HOST"] ?? "";
  if (given !== "") {
    const docker = new Dockerode();
    const stop = async (): Promise<void> => {
      for (const name of [TEST_IMAGE, VOLUME_IMAGE]) await docker.getImage(name).remove();
    };
    return withImages({ host: given, docker, isOwn: false, pid: null, stop });
  }
  return openOwn(NO_NETWORK);
}

async function openOwn(network: DaemonNetwork): Promise<TestEngine> {
  requireDebian(DAEMON, "docker.io");
  if (process.getuid?.() !== 0) throw new Error("Containers need root, or an engine that DOCKER_HOST names");
  const daemon = await startDaemon(network);
  return withImages({ ...daemon, docker: new Dockerode({ socketPath: daemon.host.slice("unix://".length) }) });
}

async function withImages(engine: TestEngine): Promise<TestEngine> {
  try {
    await importTestImage(engine.docker, TEST_IMAGE, []);
    await importTestImage(engine.docker, VOLUME_IMAGE, ["VOLUME /data", "HEALTHCHECK --interval=1s CMD true"]);
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

/** Starts a daemon that ends with this process, even if this process is killed. */
async function startDaemon({ wrapper, options }: DaemonNetwork): Promise<Omit<TestEngine, "docker">> {
  const directory = await mkdtemp(join(tmpdir(), "atoll-engine-"));
  const at = (name: string): string => join(directory, name);
  await writeFile(at("daemon.json"), "{}");
  const log = openSync(at("log"), "w");
  const [program, ...before] = [...wrapper, "setpriv"];
  const daemon = spawn(
    program,
    [
      ...before,
      ...["--pdeathsig", "TERM", DAEMON, "--config-file", at("daemon.json"), "--pidfile", at("pid")],
      ...["--data-root", at("data"), "--exec-root", at("exec"), "--host", `unix://${at("engine.sock")}`],
      ...["--group", "root", ...options],
      // The limit is higher than the limit of a Cargo, so that a test can tell which limit applies.
      ...["--default-ulimit", "core=4096:4096"],
      ...["--bridge=none", "--shutdown-timeout=1", "--max-download-attempts=1", "--log-level=warn"],
    ],
    { stdio: ["ignore", log, log] },
  );
  closeSync(log);
  const stop = async (): Promise<void> => {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      daemon.kill("SIGTERM");
      await once(daemon, "exit");
    }
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await waitForDaemon(daemon, new Dockerode({ socketPath: at("engine.sock") }));
  } catch (error) {
    const said = await readFile(at("log"), "utf8");
    await stop();
    throw new Error(`dockerd did not start: ${said.slice(-2_000)}`, { cause: error });
  }
  return { host: `unix://${at("engine.sock")}`, isOwn: true, pid: daemon.pid ?? null, stop };
}

async function waitForDaemon(daemon: ChildProcess, docker: Dockerode): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return void (await docker.ping());
    } catch (error) {
      if (tries === START_TRIES || daemon.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, TRY_MS));
    }
  }
}

/** Creates an image of a busybox. @param changes instructions of a Dockerfile. */
export async function importTestImage(docker: Dockerode, name: string, changes: readonly string[]): Promise<void> {
  const colon = name.lastIndexOf(":");
  const stream = await docker.importImage(Readable.from([makeTar(await busyboxRoot())]), {
    repo: name.slice(0, colon),
    tag: name.slice(colon + 1),
    changes,
  });
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(stream, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}

/** Returns a root file system with all programs of busybox, and a copy of one of them that is setuid root. */
export async function busyboxRoot(): Promise<TarEntry[]> {
  const [busybox, { stdout }] = await Promise.all([readFile(BUSYBOX), promisify(execFile)(BUSYBOX, ["--list"])]);
  const links = stdout.split("\n").filter((name) => name !== "" && name !== "busybox");
  return [
    { path: "bin/" },
    { path: "bin/busybox", content: busybox },
    ...links.map((name) => ({ path: `bin/${name}`, linkTo: "busybox" })),
    { path: "setuid/" },
    { path: "setuid/su", content: busybox, mode: 0o4755 },
    { path: "etc/" },
    // Root has no password, so that su becomes root wherever a setuid bit has an effect.
    { path: "etc/passwd", content: "root::0:0::/:/bin/sh\n", mode: 0o644 },
    { path: "etc/shadow", content: "root:secret-of-the-image\n", mode: 0o600 },
    { path: "tmp/", mode: 0o1777 },
    { path: "data/", mode: 0o777 },
  ];
}
