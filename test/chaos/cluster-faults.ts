import type { Cluster } from "../support/network/cluster.ts";
import type { CoordinatorProcess } from "../support/network/coordinator-process.ts";
import type { Random } from "../support/random.ts";

/** What may happen to coordinators of a cluster, and to what they share. */
export const CLUSTER_FAULTS = [
  "kill", // SIGKILL of a coordinator, which is started again
  "term", // SIGTERM, likewise
  "pause", // SIGSTOP past its lease, then SIGCONT
  "bus", // cut off from NATS
  "store", // cut off from PostgreSQL
  "islands", // cut off from Islands
  "nats", // SIGKILL of NATS, which is started again
  "database", // SIGQUIT of PostgreSQL, likewise
  "restart-database", // PostgreSQL stops in order and starts again
] as const;
/** What may happen to a coordinator that is alone on its database. */
export const LONE_FAULTS = ["kill", "term", "pause", "store", "islands", "database", "restart-database"] as const;
export type ClusterFaultKind = (typeof CLUSTER_FAULTS)[number];

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const AWAY_MS = 1_000;
const CUT_MS = 4_000;
/** Longer than a lease. Source: test/support/network/cluster.ts. */
const PAUSE_MS = 5_000;

/** Disturbs one coordinator after the other. */
export class ClusterFaults {
  readonly counts: Partial<Record<ClusterFaultKind, number>> = {};
  /** A coordinator that ended without being told to. */
  readonly badEnds: string[] = [];
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #kinds: readonly ClusterFaultKind[];
  #turn = 0;

  constructor(cluster: Cluster, random: Random, kinds: readonly ClusterFaultKind[]) {
    this.#cluster = cluster;
    this.#random = random;
    this.#kinds = kinds;
  }

  /** The next fault. Resolves when it is mended. */
  async next(): Promise<void> {
    const kind = this.#random.pick(this.#kinds);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.#noteEnds();
    await this.#inflict(kind, this.#cluster.at((this.#turn += 1)));
    this.#noteEnds();
  }

  async #inflict(kind: ClusterFaultKind, member: CoordinatorProcess): Promise<void> {
    switch (kind) {
      case "kill":
        await member.end("SIGKILL");
        return this.#startAgain(member);
      case "term": {
        const { code, stderr } = await member.end("SIGTERM");
        if (code !== 0) this.badEnds.push(`ended with ${code} after SIGTERM: ${stderr.slice(-2_000)}`);
        return this.#startAgain(member);
      }
      case "pause":
        member.freeze();
        await wait(PAUSE_MS);
        return member.thaw();
      case "bus":
      case "store":
      case "islands":
        member[kind].sever();
        await wait(CUT_MS);
        return member[kind].heal();
      case "nats":
        await this.#cluster.nats.kill();
        await wait(CUT_MS);
        return this.#cluster.nats.startAgain();
      case "database":
        await this.#cluster.postgres.kill();
        await wait(CUT_MS);
        return this.#cluster.postgres.restart();
      case "restart-database":
        return this.#cluster.postgres.restart();
      default:
        return kind satisfies never;
    }
  }

  async #startAgain(member: CoordinatorProcess): Promise<void> {
    await wait(AWAY_MS);
    await member.start();
  }

  /** Between faults all should be up. What is not is started, so that the run goes on. */
  #noteEnds(): void {
    for (const [index, member] of this.#cluster.members.entries()) {
      if (member.isUp) continue;
      const { program } = member;
      this.badEnds.push(`coordinator ${index} ended with ${program.process.exitCode}: ${program.stderr.slice(-2_000)}`);
      void member.start().catch((error: unknown) => this.badEnds.push(String(error)));
    }
  }
}
