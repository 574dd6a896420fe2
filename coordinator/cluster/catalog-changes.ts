import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { ClusterStore } from "../store/cluster-store.ts";
import type { Members } from "./members.ts";

/** The others read a few rows in less. Whoever takes longer finds the change by its own look, a second later. */
const TIMEOUT_MS = 500;

export interface CatalogChangesDeps {
  readonly bus: Pick<Bus, "request" | "answer">;
  readonly members: Pick<Members, "self" | "living">;
  readonly cluster: Pick<ClusterStore, "peers">;
  /** Reads the stored Cargos. */
  readonly refresh: () => Promise<void>;
}

/**
 * Makes a changed Cargo known everywhere before its client hears that it is stored, as the next request may go to any coordinator (request
 * `<id>.catalog`). Nobody waits for one that does not answer.
 */
export class CatalogChanges {
  readonly #deps: CatalogChangesDeps;
  readonly #unsubscribe: Unsubscribe;

  constructor(deps: CatalogChangesDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.bus.answer(subjectOf(deps.members.self.id), async () => {
      await deps.refresh();
      return null;
    });
  }

  /** Resolves when the living others have read what is stored, or say nothing. */
  async tell(): Promise<void> {
    const { bus, members, cluster } = this.#deps;
    // One that has just started is known to storage first.
    const living = await cluster.peers().catch(() => members.living);
    const others = living.filter(({ id }) => id !== members.self.id);
    await Promise.allSettled(others.map(({ id }) => bus.request(subjectOf(id), {}, TIMEOUT_MS)));
  }

  close(): void {
    this.#unsubscribe();
  }
}

const subjectOf = (coordinatorId: string): string => `${coordinatorId}.catalog`;
