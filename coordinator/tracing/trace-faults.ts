import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";

/** Between two lines of the log. A collector that is away fails several times a minute. */
const GAP_MS = 60_000;
const MAX_CHARS = 300;

/** Logs what OpenTelemetry says of traces that it could not send: at most one line a minute. */
export class TraceFaults {
  readonly #log: Pick<Logger, "warn">;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #nextMs = -Infinity;
  #unsaid = 0;

  constructor(log: Pick<Logger, "warn">, clock: Pick<Clock, "monotonicMs">) {
    this.#log = log;
    this.#clock = clock;
  }

  note(message: string): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextMs) {
      this.#unsaid += 1;
      return;
    }
    this.#nextMs = nowMs + GAP_MS;
    this.#log.warn({ reason: reasonOf(message).slice(0, MAX_CHARS), unsaid: this.#unsaid }, "Traces could not be sent");
    this.#unsaid = 0;
  }
}

/** Errors come as JSON, with their stack. */
function reasonOf(message: string): string {
  try {
    const error: unknown = JSON.parse(message);
    if (typeof error === "object" && error !== null && "message" in error) return String(error.message);
  } catch {
    // Plain text.
  }
  return message;
}
