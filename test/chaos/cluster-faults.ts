import type { Cluster } from "../support/network/cluster.ts";
import type { CoordinatorProcess } from "../support/network/coordinator-process.ts";
import type { Random } from "../support/random.ts";

/** Faults of coordinators and of the servers they share. */
export const CLUSTER_FAULTS = [
  "kill", // SIGKILL and restart of a coordinator
  "term", // SIGTERM and restart of a coordinator
  "pause", // SIGSTOP for longer than its lease, then SIGCONT
  "bus", // connections of a coordinator to NATS cut
  "store", // connections of a coordinator to PostgreSQL cut
  "islands", // connections of Islands to a coordinator cut
  "nats", // SIGKILL and restart of NATS
  "database", // SIGQUIT and restart of PostgreSQL
  "restart-database", // orderly restart of PostgreSQL
] as const;
/** Faults of a single coordinator on PostgreSQL. */
export const LONE_FAULTS = ["kill", "term", "pause", "store", "islands", "database", "restart-database"] as const;
export type ClusterFaultKind = (typeof CLUSTER_FAULTS)[number];

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const AWAY_MS = 1_000;
const CUT_MS = 4_000;
/** Longer than the lease of test/support/network/cluster.ts. */
const PAUSE_MS = 5_000;

/** Injects faults into the coordinators in turn. */
export class ClusterFaults {
  readonly counts: Partial<Record<ClusterFaultKind, number>> = {};
  /** Unexpected ends of coordinators. */
  readonly badEnds: string[] = [];
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #kinds: readonly ClusterFaultKind[];
  #round = 0;

  constructor(cluster: Cluster, random: Random, kinds: readonly ClusterFaultKind[]) {
    this.#cluster = cluster;
    this.#random = random;
    this.#kinds = kinds;
  }

  /** Injects the next fault. Resolves when it is repaired. */
  async next(): Promise<void> {
    const kind = this.#random.pick(this.#kinds);
    this.counts[kind] = (this.counts[kind] ?? 0) + 1;
    this.#noteEnds();
    await this.#inflict(kind, this.#cluster.at((this.#round += 1)));
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

  /** Records coordinators that are down between faults, and restarts them. */
  #noteEnds(): void {
    for (const [index, member] of this.#cluster.members.entries()) {
      if (member.isUp) continue;
      const { program } = member;
      this.badEnds.push(`coordinator ${index} ended with ${program.process.exitCode}: ${program.stderr.slice(-2_000)}`);
      void member.start().catch((error: unknown) => this.badEnds.push(String(error)));
    }
  }
}
