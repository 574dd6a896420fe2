import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { JobFailure } from "../../../shared/errors.ts";
import { egressRules, noEgressRules } from "./egress-rules.ts";

export interface EgressFilterOptions {
  /** Bridge of the engine, as for `egressRules()`. */
  readonly bridge: string;
  readonly platform: string;
  /** Program and first arguments of nftables. Default: nft of this machine. */
  readonly nft?: readonly [program: string, ...args: string[]];
  /** List of network devices in the namespace of `nft`. Default: that of the agent. */
  readonly devicesFile?: string;
}

/** Time limit of nft, which normally takes milliseconds. */
const MAX_NFT_MS = 10_000;
/** Search path of nft, because users' PATH often lacks the sbin folders. */
const PATH = "/usr/sbin:/sbin:/usr/bin:/bin";
const REMEDY =
  'run the agent with the capability CAP_NET_ADMIN (docs/host/runtimes.md, "Containers with a network"), ' +
  "or unset containers.network";

/** Blocks private addresses for the containers behind a bridge. If it fails, containers get no network. */
export function openEgressFilter(options: EgressFilterOptions) {
  const { bridge } = options;

  /**
   * Installs the rules, or restores them if they were removed. The bridge need not exist yet.
   * @throws {JobFailure} `runtime_unavailable`, with a remedy for the owner.
   */
  async function install(): Promise<void> {
    if (options.platform !== "linux") throw refusal("the network filter requires Linux");
    try {
      await run(egressRules(bridge));
    } catch (error) {
      throw refusal(`the filter cannot be installed (${reasonOf(error)}); ${REMEDY}`, error);
    }
  }

  /**
   * Checks that the bridge is in this network namespace. An engine on another machine, in a virtual machine or without
   * root has its bridges in another namespace, where the rules have no effect.
   * @throws {JobFailure} `runtime_unavailable`
   */
  async function assertHere(): Promise<void> {
    const devices = await readFile(options.devicesFile ?? "/proc/self/net/dev", "utf8").catch(() => "");
    if (devices.split("\n").some((line) => line.trim().startsWith(`${bridge}:`))) return;
    throw refusal("the engine runs on another machine or without root, so its traffic cannot be filtered here");
  }

  /** Removes the rules. Call it after the bridge is removed. */
  async function remove(): Promise<void> {
    await run(noEgressRules(bridge));
  }

  function run(script: string): Promise<void> {
    const [program, ...args] = options.nft ?? ["nft"];
    return new Promise((resolve, reject) => {
      const child = execFile(
        program,
        [...args, "-f", "-"],
        { env: { PATH, LC_ALL: "C" }, timeout: MAX_NFT_MS, killSignal: "SIGKILL" },
        (error, _stdout, stderr) => (error === null ? resolve() : reject(Object.assign(error, { stderr }))),
      );
      // If nft ends without reading its input, its exit reports the reason.
      child.stdin?.on("error", () => undefined).end(script);
    });
  }

  return { bridge, install, assertHere, remove };
}

export type EgressFilter = ReturnType<typeof openEgressFilter>;

function refusal(why: string, cause?: unknown): JobFailure {
  return new JobFailure("runtime_unavailable", `Containers have no network on this Island: ${why}`, {
    retryable: true,
    cause,
  });
}

function reasonOf(error: unknown): string {
  const { code, stderr, killed } = error as { code?: unknown; stderr?: unknown; killed?: boolean };
  if (code === "ENOENT") return "nftables is not installed (Debian: nftables)";
  if (killed === true) return "nft did not end";
  const [line] = typeof stderr === "string" ? stderr.trim().split("\n") : [];
  return line === undefined || line === "" ? String(error) : line.slice(0, 200);
}
