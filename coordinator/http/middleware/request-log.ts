import type { Clock } from "../../../shared/clock.ts";
import type { Logger } from "../../../shared/logger.ts";

/** A request whose answer is over, as the log names its facts. */
export interface RequestLine {
  readonly request_id: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly duration_ms: number;
  readonly account_id?: string;
  readonly aborted?: true;
}

/** Lines in a second of requests that no quota of an account bounds. */
export const MAX_STRANGERS_LINES = 100;
const SECOND_MS = 1_000;
const TOO_MANY_REQUESTS = 429;

/**
 * One line for each request. Of strangers' requests, and of those beyond a limit, there are at most so many lines in a second: who
 * floods the coordinator does not fill its disk. Metrics count them all.
 */
export class RequestLog {
  readonly #log: Pick<Logger, "info">;
  readonly #clock: Pick<Clock, "monotonicMs">;
  #secondEndsMs = -Infinity;
  #lines = 0;
  #leftOut = 0;

  constructor(log: Pick<Logger, "info">, clock: Pick<Clock, "monotonicMs">) {
    this.#log = log;
    this.#clock = clock;
  }

  note(line: RequestLine): void {
    const isBounded = line.account_id === undefined || line.status === TOO_MANY_REQUESTS;
    if (!isBounded || this.#hasRoom()) this.#log.info(line, "request");
    else this.#leftOut += 1;
  }

  #hasRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#secondEndsMs) {
      if (this.#leftOut > 0) this.#log.info({ requests: this.#leftOut }, "Requests were left out of the log");
      this.#secondEndsMs = nowMs + SECOND_MS;
      this.#lines = 0;
      this.#leftOut = 0;
    }
    this.#lines += 1;
    return this.#lines <= MAX_STRANGERS_LINES;
  }
}
