import type { Duplex } from "node:stream";
import { ServiceError } from "../../../shared/errors.ts";
import { answerError } from "../middleware/errors.ts";
import { endWith } from "./protocol-refusals.ts";

/**
 * Answers an upgrade with the refusal that was thrown, as any request would be, and `headers`. Anything else closes it without
 * a word.
 */
export function refuseUpgrade(socket: Duplex, thrown: unknown, headers: Readonly<Record<string, string>>): void {
  if (!(thrown instanceof ServiceError)) {
    socket.destroy();
    return;
  }
  const answer = answerError(thrown, { requestId: "", forOpenAi: false });
  endWith(socket, { ...answer, headers: { ...answer.headers, ...headers } });
}
