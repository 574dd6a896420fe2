import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** Public and private addresses of the world. */
export const WORLD = {
  public: "11.1.1.2",
  privates: ["10.9.9.2", "172.31.9.2", "192.168.9.2", "100.64.9.2", "169.254.169.254", "198.18.9.2"],
};
export const HOST_PUBLIC = "11.1.1.1";
const PORT = 8_080;
const run = promisify(execFile);

/**
 * A network namespace that is connected to the host's, with a server at public and private addresses. The same server
 * runs on the host. Disposal ends both servers.
 */
export class NetworkWorld implements AsyncDisposable {
  readonly #children: ChildProcess[] = [];
  readonly #hostPid: number;
  readonly #directory: string;

  private constructor(hostPid: number, directory: string) {
    this.#hostPid = hostPid;
    this.#directory = directory;
  }

  /** @param hostPid process in the network namespace of the host, created for the test. */
  static async open(hostPid: number): Promise<NetworkWorld> {
    const world = new NetworkWorld(hostPid, await mkdtemp(join(tmpdir(), "atoll-world-")));
    await writeFile(join(world.#directory, "index.html"), "reached\n");
    const outside = world.#keep(spawn("setpriv", ["--pdeathsig", "KILL", "unshare", "--net", "sleep", "1000"]));
    await world.#connect(outside);
    for (const pid of [outside, hostPid]) {
      const serve = ["httpd", "-f", "-p", `${PORT}`, "-h", world.#directory];
      world.#keep(
        spawn("setpriv", ["--pdeathsig", "KILL", "nsenter", `--net=/proc/${pid}/ns/net`, "/bin/busybox", ...serve]),
      );
    }
    return world;
  }

  /** Returns the command that runs a program in the host's network namespace. */
  onHost(program: string, ...args: string[]): [string, ...string[]] {
    return ["/usr/bin/nsenter", `--net=/proc/${this.#hostPid}/ns/net`, program, ...args];
  }

  /** Returns shell commands that print the `addresses` whose server responds. */
  static reachable(addresses: readonly string[]): string {
    // `-w` of nc limits only the connection attempt, and a filter may drop the response. wget of a static busybox
    // crashes without /etc/hosts and /etc/services.
    const each = addresses.map(
      (address) =>
        `(printf 'GET / HTTP/1.0\\r\\n\\r\\n' | timeout 5 nc -w 1 ${address} ${PORT} | grep -q reached && echo ${address} >> /tmp/reached) &`,
    );
    return [": > /tmp/reached", ...each, "wait", "sort /tmp/reached"].join("\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return;
        child.kill("SIGKILL");
        await once(child, "exit");
      }),
    );
    await rm(this.#directory, { recursive: true });
  }

  async #connect(outside: number): Promise<void> {
    // The process starts before it enters its namespace.
    const isApart = async (): Promise<boolean> =>
      (await run("readlink", [`/proc/${outside}/ns/net`])).stdout !==
      (await run("readlink", ["/proc/self/ns/net"])).stdout;
    while (!(await isApart()));
    const onHost = [
      `ip link set lo up`,
      `ip link add world type veth peer name host netns ${outside}`,
      `ip addr add ${HOST_PUBLIC}/24 dev world`,
      `ip link set world up`,
      ...WORLD.privates.map((address) => `ip route add ${address} dev world`),
    ];
    const inWorld = [
      `ip link set lo up`,
      `ip addr add ${WORLD.public}/24 dev host`,
      ...WORLD.privates.map((address) => `ip addr add ${address}/32 dev host`),
      `ip link set host up`,
      `ip route add default via ${HOST_PUBLIC}`,
    ];
    await run("nsenter", [`--net=/proc/${this.#hostPid}/ns/net`, "sh", "-ec", onHost.join("\n")]);
    await run("nsenter", [`--net=/proc/${outside}/ns/net`, "sh", "-ec", inWorld.join("\n")]);
  }

  #keep(child: ChildProcess): number {
    this.#children.push(child);
    if (child.pid === undefined) throw new Error("A process of the world did not start");
    return child.pid;
  }
}
