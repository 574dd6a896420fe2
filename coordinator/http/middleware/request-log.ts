import type { Clock } from "../../../shared/clock.ts";
import type { Logger } from "../../../shared/logger.ts";

/** A request whose answer is over, as the log names its facts. */
interface RequestLine {
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
 * Logs one line for each request. Of strangers' requests, and of those beyond a limit, there are at most so many lines in a second: who
 * floods the coordinator does not fill its disk. Metrics count them all.
 */
export function requestLog(log: Pick<Logger, "info">, clock: Pick<Clock, "monotonicMs">): (line: RequestLine) => void {
  let secondEndsMs = -Infinity;
  let lines = 0;
  let leftOut = 0;

  const hasRoom = (): boolean => {
    const nowMs = clock.monotonicMs();
    if (nowMs >= secondEndsMs) {
      if (leftOut > 0) log.info({ requests: leftOut }, "Requests were left out of the log");
      secondEndsMs = nowMs + SECOND_MS;
      lines = 0;
      leftOut = 0;
    }
    lines += 1;
    return lines <= MAX_STRANGERS_LINES;
  };

  return (line) => {
    const isBounded = line.account_id === undefined || line.status === TOO_MANY_REQUESTS;
    if (!isBounded || hasRoom()) log.info(line, "request");
    else leftOut += 1;
  };
}
