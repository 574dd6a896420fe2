import { randomUUID } from "node:crypto";
import { call, until } from "../../support/http/http.ts";
import { runFrames } from "../../support/network/attempt-frames.ts";
import { FakeIsland } from "../../support/network/fake-island.ts";
import { INSPECTED, Inspector } from "../../support/inspector.ts";
import { Network } from "../../support/network/network.ts";
import { Program } from "../../support/program.ts";
import type { NewAccount } from "../../support/store/account-rows.ts";

/** Flags for Islands that send no heartbeats, and that get the next job at once after a failed one. */
const FLAGS = ["--heartbeat-s", "3600", "--island-backoff-s", "0.01", "--island-grace-s", "0.3"];
const CLIENT = new URL("./steady-client-program.ts", import.meta.url).pathname;
/**
 * Measures the longest turn of the event loop in CPU time of its thread. A timer runs at most once in a turn, so a
 * measured time covers a turn and at most 1 ms more.
 */
const WATCH = `
  globalThis.longestTurnMs = 0;
  let { user: before } = process.threadCpuUsage();
  setInterval(() => {
    const { user } = process.threadCpuUsage();
    globalThis.longestTurnMs = Math.max(globalThis.longestTurnMs, (user - before) / 1000);
    before = user;
  }, 1);`;
const READ = "const turnMs = globalThis.longestTurnMs; globalThis.longestTurnMs = 0; String(turnMs)";

/** An account with the default limits. */
export interface Attacker {
  readonly account: NewAccount;
  /** Calls the API with the attacker's key. `data` is undefined for errors. */
  // oxlint-disable-next-line typescript/no-explicit-any -- untyped JSON of the API
  readonly api: (method: string, path: string, body?: unknown) => Promise<{ status: number; data: any }>;
}

/** The steady client's latencies, and the longest turn of the coordinator's event loop in CPU time. */
export interface Impact {
  readonly responses: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly turnMs: number;
}

/** A coordinator process, and another account's client that reads `GET /account` at a steady pace. */
export class AttackWorld implements AsyncDisposable {
  readonly #network: Network;
  readonly #inspector: Inspector;
  readonly #client: Program;
  #attackers = 0;

  private constructor(network: Network, inspector: Inspector, client: Program) {
    this.#network = network;
    this.#inspector = inspector;
    this.#client = client;
  }

  static async open(): Promise<AttackWorld> {
    const network = await Network.open(FLAGS, INSPECTED);
    const inspector = await Inspector.open(network.coordinator);
    await inspector.evaluate(WATCH);
    const { key } = network.createAccount("steady@example.com");
    const client = new Program(CLIENT, [network.url, key]);
    await client.printed(/^.*\n/);
    return new AttackWorld(network, inspector, client);
  }

  attacker(): Attacker {
    const account = this.#network.createAccount(`attacker${(this.#attackers += 1)}@example.com`, 1_000_000, {
      requestsPerMinute: null,
    });
    const api: Attacker["api"] = async (method, path, body) => {
      const { status, body: answer } = await call(this.#network.url, account.key, method, path, body);
      return { status, data: answer.data };
    };
    return { account, api };
  }

  /** Joins a new Island of the attacker that answers each chat with `text`. */
  async join({ account }: Attacker, text: string): Promise<FakeIsland> {
    const hello = { hostId: randomUUID(), features: ["chat.schema2"], slots: 1 };
    const island = await FakeIsland.join(this.#network.url, account.islandToken, hello);
    island.handle((frame) => {
      if (frame.type === "assign") island.send(...runFrames(frame, text));
    });
    return island;
  }

  /** Returns what the steady client sees while `act` runs, and the result of `act`. */
  async impactOf<T>(act: () => Promise<T>): Promise<[Impact, T]> {
    await this.#inspector.evaluate(READ);
    const beginMs = Date.now();
    const result = await act();
    const endMs = Date.now();
    const turnMs = Number(await this.#inspector.evaluate(READ));
    const during = await this.#responses(endMs);
    const latencies = during.filter(({ atMs }) => atMs >= beginMs).map(({ ms }) => ms);
    latencies.sort((a, b) => a - b);
    const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0;
    return [{ responses: latencies.length, p50Ms: at(0.5), p99Ms: at(0.99), turnMs }, result];
  }

  /** Resolves when the steady client has received this many further responses. */
  async responses(count: number): Promise<void> {
    const before = this.#client.stdout.split("\n").length;
    const read = async (): Promise<number> => this.#client.stdout.split("\n").length - before;
    await until(read, (received) => received >= count, `${count} responses`);
  }

  /** Returns all responses to requests before a time, once they have arrived. */
  async #responses(untilMs: number): Promise<{ atMs: number; ms: number }[]> {
    const read = async () => {
      const lines = this.#client.stdout.split("\n").slice(0, -1);
      const all = lines.map((line) => line.split(" ").map(Number) as [number, number, number]);
      all.sort(([a], [b]) => a - b);
      const isWhole = all.every(([number], index) => number === index);
      return { all, isWhole };
    };
    const isDone = ({ all, isWhole }: Awaited<ReturnType<typeof read>>): boolean =>
      isWhole && (all.at(-1)?.[1] ?? 0) >= untilMs;
    const { all } = await until(read, isDone, "all requests have a response");
    return all.filter(([, atMs]) => atMs < untilMs).map(([, atMs, ms]) => ({ atMs, ms }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    await this.#inspector[Symbol.asyncDispose]();
    await this.#network[Symbol.asyncDispose]();
  }
}
