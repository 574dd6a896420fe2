import type { Logger } from "../../shared/logger.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { Members } from "./members.ts";

export interface RemoteQuestionsDeps {
  readonly bus: Pick<Bus, "request" | "answer">;
  readonly members: Pick<Members, "self" | "living">;
  readonly log: Pick<Logger, "warn">;
  /** What this coordinator knows of a question. */
  readonly answer: (question: unknown) => unknown;
}

/** Somebody waits for the page. */
const MAX_WAIT_MS = 500;

/** Another coordinator, and what it answered; undefined: nothing in time. */
export interface PeerAnswer {
  readonly id: string;
  readonly address: string;
  readonly version: string;
  readonly answer: unknown;
}

/** Questions of operators that all coordinators answer (request `<id>.operator`). */
export class RemoteQuestions {
  readonly #deps: RemoteQuestionsDeps;
  readonly #stop: Unsubscribe;

  constructor(deps: RemoteQuestionsDeps) {
    this.#deps = deps;
    this.#stop = deps.bus.answer(subjectOf(deps.members.self.id), async (question) => deps.answer(question) ?? null);
  }

  get self(): Members["self"] {
    return this.#deps.members.self;
  }

  /** The answers of all others. */
  ask(question: unknown): Promise<PeerAnswer[]> {
    const { bus, members, log } = this.#deps;
    const others = members.living.filter(({ id }) => id !== members.self.id);
    return Promise.all(
      others.map(async ({ id, address, version }) => {
        const answer = await bus.request(subjectOf(id), question, MAX_WAIT_MS).catch((error: unknown) => {
          log.warn({ err: error, coordinator: id }, "A coordinator did not answer an operator's question");
          return undefined;
        });
        return { id, address, version, answer };
      }),
    );
  }

  /** Answers no more. */
  close(): void {
    this.#stop();
  }
}

const subjectOf = (coordinatorId: string): string => `${coordinatorId}.operator`;
