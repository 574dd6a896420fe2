import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { IslandSessions } from "../store/island-sessions.ts";

export interface NewestSessionsDeps {
  readonly islands: Pick<IslandRegistry, "subscribe" | "endSession">;
  readonly sessions: IslandSessions;
  readonly bus: Bus;
  readonly log: Pick<Logger, "warn">;
}

const SUBJECT = "islands";
/** Islands in one message. */
const MAX_TOLD = 1_000;
/** Islands at other coordinators whose numbers are remembered, until the session here has its own. */
const MAX_HEARD = 10_000;

/** The sessions of Islands that a coordinator has. */
interface SessionsMessage {
  readonly sessions: readonly (readonly [hostId: string, number: number])[];
}

/** A session here. */
interface Session {
  /** Null until storage has given it. */
  number: number | null;
}

/**
 * Keeps the newer of two sessions that one Island has at two coordinators: it may have lost the older one, which nobody has noticed yet.
 * Storage numbers the sessions, so that both coordinators know which is the newer one. While numbers or messages are missing, both stay.
 */
export class NewestSessions {
  readonly #deps: NewestSessionsDeps;
  /** By host id. */
  readonly #here = new Map<string, Session>();
  readonly #heard = recentMap<number>(MAX_HEARD);
  readonly #subscriptions: readonly Unsubscribe[];

  /** Before the first Island is let in. */
  constructor(deps: NewestSessionsDeps) {
    this.#deps = deps;
    deps.islands.subscribe((event) => {
      if (event.type === "island_up") this.#number(event.island.id);
      if (event.type === "island_down") this.#here.delete(event.islandId);
    });
    this.#subscriptions = [
      deps.bus.subscribe(SUBJECT, (message) => this.#hear(message as SessionsMessage)),
      // Others heard of none that began meanwhile.
      deps.bus.onChange((downBecause) => {
        if (downBecause === null) this.#tellAll();
      }),
    ];
  }

  close(): void {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
  }

  #number(hostId: string): void {
    const session: Session = { number: null };
    this.#here.set(hostId, session);
    this.#deps.sessions.nextNumber().then(
      (number) => {
        if (this.#here.get(hostId) !== session) return;
        session.number = number;
        if ((this.#heard.get(hostId) ?? 0) > number) this.#deps.islands.endSession(hostId);
        else this.#tell([[hostId, number]]);
      },
      (error: unknown) => this.#deps.log.warn({ err: error, island: hostId }, "A session of an Island got no number"),
    );
  }

  /** Its own messages, too: none is newer than the session itself. */
  #hear({ sessions }: SessionsMessage): void {
    for (const [hostId, number] of sessions) {
      this.#heard.set(hostId, Math.max(number, this.#heard.get(hostId) ?? 0));
      const own = this.#here.get(hostId)?.number ?? null;
      if (own !== null && own < number) this.#deps.islands.endSession(hostId);
    }
  }

  #tellAll(): void {
    const numbered = [...this.#here].flatMap(([hostId, { number }]) =>
      number === null ? [] : [[hostId, number] as const],
    );
    for (let from = 0; from < numbered.length; from += MAX_TOLD) this.#tell(numbered.slice(from, from + MAX_TOLD));
  }

  #tell(sessions: SessionsMessage["sessions"]): void {
    this.#deps.bus.publish(SUBJECT, { sessions } satisfies SessionsMessage);
  }
}
