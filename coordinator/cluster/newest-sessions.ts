import type { Logger } from "../../shared/logger.ts";
import { recentMap } from "../../shared/recent-map.ts";
import type { Bus, Unsubscribe } from "../bus/bus.ts";
import type { IslandRegistry } from "../islands/island-registry.ts";
import type { SessionOrder } from "../islands/session-order.ts";
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
/** Islands whose newest numbers are remembered, for sessions that are slow to begin. */
const MAX_HEARD = 10_000;

/** The sessions of Islands that a coordinator has. */
interface SessionsMessage {
  /** An older version names no account. */
  readonly sessions: readonly (readonly [hostId: string, number: number, accountId?: string])[];
}

/**
 * Keeps the newer of two sessions that one Island has at two coordinators: it may have lost the older one, which nobody has noticed yet.
 * Storage numbers the sessions as their hellos come, so that both coordinators know which is the newer one. While numbers or messages are
 * missing, both stay. Of two accounts with one host id, which storage forgot after the first had it, the first keeps it.
 */
export class NewestSessions implements SessionOrder {
  readonly #deps: NewestSessionsDeps;
  /** The sessions here, by host id; number null: it got none. */
  readonly #here = new Map<string, { readonly number: number | null; readonly accountId: string }>();
  readonly #heard = recentMap<number>(MAX_HEARD);
  readonly #subscriptions: readonly Unsubscribe[];

  /** Before the first Island is let in. */
  constructor(deps: NewestSessionsDeps) {
    this.#deps = deps;
    deps.islands.subscribe((event) => {
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

  async next(hostId: string): Promise<number | null> {
    try {
      return await this.#deps.sessions.nextNumber();
    } catch (error) {
      this.#deps.log.warn({ err: error, island_id: hostId }, "A session of an Island got no number");
      return null;
    }
  }

  admits(hostId: string, number: number | null): boolean {
    return number === null || number >= (this.#heard.get(hostId) ?? 0);
  }

  begin(hostId: string, accountId: string, number: number | null): void {
    this.#here.set(hostId, { number, accountId });
    if (number === null) return;
    this.#heard.set(hostId, number);
    this.#tell([[hostId, number, accountId]]);
  }

  /** Its own messages, too: none is newer than the session itself. */
  #hear({ sessions }: SessionsMessage): void {
    for (const [hostId, number, accountId] of sessions) {
      this.#heard.set(hostId, Math.max(number, this.#heard.get(hostId) ?? 0));
      const own = this.#here.get(hostId);
      if (own === undefined || own.number === null) continue;
      const isOfAnother = accountId !== undefined && accountId !== own.accountId;
      if (isOfAnother ? number < own.number : number > own.number) this.#deps.islands.endSession(hostId);
      // The other one has not heard of this session, which is the first.
      else if (isOfAnother) this.#tell([[hostId, own.number, own.accountId]]);
    }
  }

  #tellAll(): void {
    const numbered = [...this.#here].flatMap(([hostId, { number, accountId }]) =>
      number === null ? [] : [[hostId, number, accountId] as const],
    );
    for (let from = 0; from < numbered.length; from += MAX_TOLD) this.#tell(numbered.slice(from, from + MAX_TOLD));
  }

  #tell(sessions: SessionsMessage["sessions"]): void {
    this.#deps.bus.publish(SUBJECT, { sessions } satisfies SessionsMessage);
  }
}
