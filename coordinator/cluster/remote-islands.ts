import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { ConnectedIslands, IslandsElsewhere, LiveIsland } from "../islands/live-island.ts";
import type { Members } from "./members.ts";

export interface RemoteIslandsDeps {
  readonly bus: Pick<Bus, "request" | "answer">;
  readonly members: Pick<Members, "self" | "living">;
  readonly here: ConnectedIslands;
  /** Which Cargos of the account the Islands here can run. */
  readonly availability: (accountId: string) => unknown;
  readonly log: Pick<Logger, "warn">;
}

/** Somebody waits for the page; what is stored is shown in place of an answer that takes longer. */
const MAX_WAIT_MS = 500;

interface IslandsQuestion {
  /**
   * `describe`: answered with {@link LiveIsland}s. `remove`: the Island is sent away. `availability`: with Cargos; an earlier version
   * answers null.
   */
  readonly ask: "describe" | "remove" | "availability";
  readonly accountId: string;
  /** Null: all Islands of the account. */
  readonly hostId: string | null;
}

/**
 * Islands of an account that are connected to other coordinators (request `<id>.islands`). The database does not say who has which, so
 * all are asked.
 */
export class RemoteIslands implements IslandsElsewhere {
  readonly #deps: RemoteIslandsDeps;
  readonly #stop: Unsubscribe;

  constructor(deps: RemoteIslandsDeps) {
    this.#deps = deps;
    this.#stop = deps.bus.answer(subjectOf(deps.members.self.id), async (message) => {
      const { ask, accountId, hostId } = message as IslandsQuestion;
      if (ask === "describe") return deps.here.liveOf(accountId, hostId);
      if (ask === "availability") return deps.availability(accountId);
      if (hostId !== null) deps.here.remove(accountId, hostId);
      return null;
    });
  }

  async liveOf(accountId: string, hostId: string | null): ReturnType<IslandsElsewhere["liveOf"]> {
    const answers = await this.#askAll({ ask: "describe", accountId, hostId });
    const heard = answers.filter((answer) => Array.isArray(answer)) as LiveIsland[][];
    return { islands: heard.flat(), isComplete: heard.length === answers.length };
  }

  /** Undefined or null for each that does not tell. */
  availability(accountId: string): Promise<readonly unknown[]> {
    return this.#askAll({ ask: "availability", accountId, hostId: null });
  }

  /** A coordinator that does not hear of it finds the removal in storage within a minute or two. */
  async remove(accountId: string, hostId: string): Promise<void> {
    await this.#askAll({ ask: "remove", accountId, hostId });
  }

  /** Answers no more. */
  close(): void {
    this.#stop();
  }

  /** Undefined for each that does not answer. */
  #askAll(question: IslandsQuestion): Promise<unknown[]> {
    const { bus, members, log } = this.#deps;
    const others = members.living.filter(({ id }) => id !== members.self.id);
    const asked = others.map(({ id }) =>
      bus.request(subjectOf(id), question, MAX_WAIT_MS).catch((error: unknown) => {
        log.warn({ err: error, coordinator: id }, "A coordinator did not tell of its Islands");
        return undefined;
      }),
    );
    return Promise.all(asked);
  }
}

const subjectOf = (coordinatorId: string): string => `${coordinatorId}.islands`;
