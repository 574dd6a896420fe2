import type { Duplex } from "node:stream";
import { ServiceError } from "../../shared/errors.ts";
import { answerError } from "./errors.ts";
import { endWith } from "./protocol-refusals.ts";

/** Answers an upgrade with the refusal that was thrown, as any request would be. Anything else closes it without a word. */
export function refuseUpgrade(socket: Duplex, thrown: unknown): void {
  if (thrown instanceof ServiceError) endWith(socket, answerError(thrown, { requestId: "", forOpenAi: false }));
  else socket.destroy();
}
