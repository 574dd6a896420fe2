import { setImmediate as nextTurn } from "node:timers/promises";
import type { ClusterStore } from "../store/cluster-store.ts";

/** Asks storage who has a job; all who ask at about the same time share a query, as do the readers of a coordinator that died. */
export class OwnerLookup {
  readonly #cluster: Pick<ClusterStore, "ownersOf">;
  readonly #asked = new Set<string>();
  #answer: Promise<ReadonlyMap<string, string>> | null = null;

  constructor(cluster: Pick<ClusterStore, "ownersOf">) {
    this.#cluster = cluster;
  }

  /** Undefined for a job that has ended or is not known. */
  async of(jobId: string): Promise<string | undefined> {
    this.#asked.add(jobId);
    this.#answer ??= this.#ask();
    return (await this.#answer).get(jobId);
  }

  async #ask(): Promise<ReadonlyMap<string, string>> {
    await nextTurn();
    const jobIds = [...this.#asked];
    this.#asked.clear();
    this.#answer = null;
    return this.#cluster.ownersOf(jobIds);
  }
}
