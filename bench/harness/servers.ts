import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NewAccount } from "../../test/support/store/account-rows.ts";
import { Network } from "../../test/support/network/network.ts";
import type { BareLoopApi } from "../bare-loop.ts";
import { Worker } from "./worker.ts";

/** A server under load, in a separate process. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Directory of its database; null if it does not store anything. */
  readonly data: string | null;
  /** Creates an account with unlimited quotas. */
  account(name: string): Pick<NewAccount, "key" | "islandToken">;
}

export type ServerKind = "atoll" | "bare";

export const NO_LIMITS = { requestsPerMinute: 1e9, concurrentJobs: 1e6, concurrentStreams: 1e6 };
export const CREDITS = 1e9;
/** Flags for many or idle Islands, and for jobs that are held on purpose. */
export const PATIENT = [
  ["--island-sessions-per-token", "1000"],
  ["--island-sessions-per-account", "1000"],
  ["--accept-limit-s", "60"],
  ["--first-output-limit-s", "3600"],
  ["--silence-limit-s", "3600"],
].flat();

const BUILT = join(import.meta.dirname, "..", "..", "dist", "bin", "coordinator.js");
/** Path where `test/support/uws/install.ts` installs the library. */
const UWS_MODULE = join(import.meta.dirname, "..", "..", "test", "support", "uws", "node_modules", "uwebsockets");
let program = "coordinator";
let transport: readonly string[] = [];

/** Makes later coordinators start from `npm run build` instead of the sources. @throws if the build does not exist. */
export function measureBuilt(): void {
  if (!existsSync(BUILT)) throw new Error("dist/bin/coordinator.js is missing. Build it first: npm run build");
  measureProgram(BUILT);
}

/** Makes later coordinators start from this file, which may belong to another version. */
export function measureProgram(path: string): void {
  program = path;
}

/** Returns the path of the coordinator program to start. */
export const coordinatorProgram = (): string => program;

export const isBuiltMeasured = (): boolean => program === BUILT;

/**
 * Sets the transport of later coordinators.
 * @throws if the transport is unknown, or if uWebSockets.js is not installed.
 */
export function measureTransport(name: string): void {
  if (name !== "node" && name !== "uws") throw new Error(`Unknown --transport ${name}: must be node or uws`);
  if (name === "uws" && !existsSync(UWS_MODULE))
    throw new Error("uWebSockets.js is not installed. Install it with: node test/support/uws/install.ts");
  transport = ["--transport", name, "--uws-module", UWS_MODULE];
}

/** Starts a coordinator with `bin/coordinator.ts serve` and data on a disk. */
export async function startAtoll(
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<Server & { readonly network: Network }> {
  const network = await Network.open([...PATIENT, ...transport, ...flags], env, program);
  const { pid } = network.coordinator.process;
  if (pid === undefined) throw new Error("The coordinator did not start");
  return {
    network,
    url: network.url,
    pid,
    data: network.data,
    account: (name) => network.createAccount(`${name}@example.com`, CREDITS, NO_LIMITS),
    [Symbol.asyncDispose]: () => network[Symbol.asyncDispose](),
  };
}

async function startBareLoop(): Promise<Server> {
  const worker = await Worker.start<BareLoopApi>(join(import.meta.dirname, "..", "bare-loop.ts"));
  return {
    url: await worker.call("listen", undefined),
    pid: worker.pid,
    data: null,
    account: () => ({ key: "bare", islandToken: "bare" }),
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

export const startServer = (kind: ServerKind): Promise<Server> => (kind === "atoll" ? startAtoll() : startBareLoop());
