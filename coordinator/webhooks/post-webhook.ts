import * as http from "node:http";
import * as https from "node:https";
import { lookupBy, publicLookup } from "../../shared/host-lookup.ts";
import type { ResolveHostUntil } from "./resolve-host.ts";
import { refusalOf } from "./webhook-address.ts";

/** Of an answer's body, more is not read: nobody looks at it. */
const MAX_ANSWER_BYTES = 4_096;

export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborted: the receiver takes too long, or the coordinator goes down. */
  readonly signal: AbortSignal;
  readonly allowPrivate: boolean;
  readonly resolveHost: ResolveHostUntil;
}

/** The operator does not allow the address. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/**
 * Posts once and follows no redirect. Resolves to the status.
 * @throws {AddressRefusedError}; whatever Node throws for a connection that fails; `signal.reason`, wrapped by Node.
 */
export async function postWebhook(post: WebhookPost): Promise<number> {
  const url = new URL(post.url);
  const refusal = refusalOf(url, post.allowPrivate);
  if (refusal !== null) throw new AddressRefusedError(`the URL ${refusal}`);
  const resolveHost = (hostname: string) => post.resolveHost(hostname, post.signal);
  const options = {
    method: "POST",
    headers: { ...post.headers, "content-length": String(Buffer.byteLength(post.body)) },
    // A connection of its own: no state is left behind, and the address is checked each time.
    agent: false,
    signal: post.signal,
    lookup: post.allowPrivate ? lookupBy(resolveHost) : publicLookup(resolveHost, refused),
  } as const;
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? https.request(url, options) : http.request(url, options);
    request.once("error", reject);
    // A receiver that wants another protocol gives no response: the status is its answer, and the socket is not ours to keep.
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    // Whatever Node does not tell otherwise: a try that is over must end.
    const onClose = (): void => reject(new Error("the connection closed without an answer"));
    request.once("close", onClose);
    request.once("response", (response) => {
      // The status is the answer, whatever becomes of the rest.
      request.off("error", reject).on("error", () => undefined);
      request.off("close", onClose);
      let readBytes = 0;
      response.on("error", () => undefined);
      response.on("data", (chunk: Buffer) => {
        readBytes += chunk.length;
        if (readBytes > MAX_ANSWER_BYTES) response.destroy();
      });
      response.once("close", () => resolve(response.statusCode ?? 0));
    });
    request.end(post.body);
  });
}

/** Does not name the address: the log must not tell what the operator's names resolve to inside. */
function refused(hostname: string): Error {
  return new AddressRefusedError(`the host ${hostname} has a private address`);
}
