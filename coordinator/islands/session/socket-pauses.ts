import type { Clock } from "../../../shared/clock.ts";
import type { SessionSocket } from "../session-socket.ts";

/** `storage`: commits are behind. `turn`: frames wait for their turn. `rate`: too much a second. `room`: too many unfinished frames. */
type Reason = "storage" | "turn" | "rate" | "room";

/** Why a socket is not read now. It is read again when no reason is left, or to see the close through. */
export class SocketPauses {
  readonly #socket: Pick<SessionSocket, "pause" | "resume">;
  readonly #clock: Pick<Clock, "schedule">;
  readonly #reasons = new Set<Reason>();
  #isOver = false;

  constructor(socket: Pick<SessionSocket, "pause" | "resume">, clock: Pick<Clock, "schedule">) {
    this.#socket = socket;
    this.#clock = clock;
  }

  begin(reason: Reason): void {
    if (this.#isOver) return;
    this.#reasons.add(reason);
    this.#socket.pause();
  }

  end(reason: Reason): void {
    if (this.#reasons.delete(reason) && this.#reasons.size === 0) this.#socket.resume();
  }

  /** Does nothing while the reason is in force. `then` is not called once all pauses are over. */
  beginFor(reason: Reason, ms: number, then?: () => void): void {
    if (this.#isOver || this.#reasons.has(reason)) return;
    this.begin(reason);
    this.#clock.schedule(ms, () => {
      this.end(reason);
      if (!this.#isOver) then?.();
    });
  }

  /** The session closes: the socket is read to its end. */
  close(): void {
    this.#isOver = true;
    this.#reasons.clear();
    this.#socket.resume();
  }
}
