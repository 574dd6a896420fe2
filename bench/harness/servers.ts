import { existsSync } from "node:fs";
import { join } from "node:path";
import type { NewAccount } from "../../test/support/store/account-rows.ts";
import { Network } from "../../test/support/network/network.ts";
import type { BareLoopApi } from "../bare-loop.ts";
import { Worker } from "./worker.ts";

/** A server under load, in a process of its own. */
export interface Server extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Where its database is; null for one that stores nothing. */
  readonly data: string | null;
  /** One that may do as much as it likes. */
  account(name: string): Pick<NewAccount, "key" | "islandToken">;
}

export type ServerKind = "atoll" | "bare";

export const NO_LIMITS = { requestsPerMinute: 1e9, concurrentJobs: 1e6, concurrentStreams: 1e6 };
export const CREDITS = 1e9;
/** Islands that a test means to keep waiting or many, and jobs that are held back on purpose. */
export const PATIENT = [
  ["--island-sessions-per-token", "1000"],
  ["--island-sessions-per-account", "1000"],
  ["--accept-limit-s", "60"],
  ["--first-output-limit-s", "3600"],
  ["--silence-limit-s", "3600"],
].flat();

const BUILT = join(import.meta.dirname, "..", "..", "dist", "bin", "coordinator.js");
/** Where `test/support/uws/install.ts` puts the library. */
const UWS_MODULE = join(import.meta.dirname, "..", "..", "test", "support", "uws", "node_modules", "uwebsockets");
let program = "coordinator";
let transport: readonly string[] = [];

/** From now on coordinators are those of `npm run build`, and not the sources. @throws when nothing is built. */
export function measureBuilt(): void {
  if (!existsSync(BUILT)) throw new Error("There is no dist/bin/coordinator.js. Build it first: npm run build");
  measureProgram(BUILT);
}

/** From now on coordinators are started from this file, which may be of another version. */
export function measureProgram(path: string): void {
  program = path;
}

/** What `Program` is to start: the sources, or the build. */
export const coordinatorProgram = (): string => program;

export const isBuiltMeasured = (): boolean => program === BUILT;

/** From now on coordinators serve with this transport. @throws when it is not one of them, or uWebSockets.js is not installed. */
export function measureTransport(name: string): void {
  if (name !== "node" && name !== "uws") throw new Error(`--transport ${name}: there are node and uws`);
  if (name === "uws" && !existsSync(UWS_MODULE)) throw new Error("Install it first: node test/support/uws/install.ts");
  transport = ["--transport", name, "--uws-module", UWS_MODULE];
}

/** A coordinator as `bin/coordinator.ts serve` starts it, on a disk. */
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
