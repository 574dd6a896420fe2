import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { Outlook, WorkKind } from "../scheduler/shared-work.ts";
import { workKindOf } from "../scheduler/slot-offer.ts";
import type { Members } from "./members.ts";
import { readOutlook, readWorkKind } from "./sharing-messages.ts";

export interface RemoteOutlooksDeps {
  readonly bus: Pick<Bus, "request" | "answer">;
  readonly members: Pick<Members, "self" | "living">;
  /** Whether Islands here may run jobs of a kind. */
  readonly here: (kind: WorkKind) => Outlook;
}

/** Short, because a client waits for its refusal. */
const MAX_WAIT_MS = 500;

/** Asks all other coordinators whether their Islands may run a kind of work (request `<id>.outlook`), and answers them. */
export class RemoteOutlooks {
  readonly #deps: RemoteOutlooksDeps;
  readonly #stop: Unsubscribe;

  constructor(deps: RemoteOutlooksDeps) {
    this.#deps = deps;
    this.#stop = deps.bus.answer(subjectOf(deps.members.self.id), async (kind) => deps.here(readWorkKind(kind)));
  }

  /** Null for each that does not respond, such as a coordinator of an earlier version. */
  ask(kind: WorkKind): Promise<(Outlook | null)[]> {
    const { bus, members } = this.#deps;
    const others = members.living.filter(({ id }) => id !== members.self.id);
    return Promise.all(
      others.map(async ({ id }) => {
        const answer = await bus.request(subjectOf(id), workKindOf(kind), MAX_WAIT_MS).catch(() => null);
        return readOutlook(answer);
      }),
    );
  }

  /** Answers no more. */
  close(): void {
    this.#stop();
  }
}

const subjectOf = (coordinatorId: string): string => `${coordinatorId}.outlook`;
