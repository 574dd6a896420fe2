import * as http from "node:http";
import * as https from "node:https";
import { lookupBy, publicLookup } from "../../shared/net/host-lookup.ts";
import { privateLiteralOf } from "../../shared/net/private-address.ts";
import type { ResolveHostUntil } from "./resolve-host.ts";

/** Maximum bytes read of a response body, which is ignored. */
const MAX_RESPONSE_BYTES = 4_096;

/** The configuration does not allow the receiver's address. */
export class AddressRefusedError extends Error {
  override readonly name = "AddressRefusedError";
}

/**
 * Posts a webhook once, without following redirects. Resolves with the HTTP status.
 * @throws {AddressRefusedError}; Node's error for a failed connection; an AbortError of `signal`.
 */
export async function postWebhook(post: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Aborts if the receiver takes too long or the coordinator stops. */
  readonly signal: AbortSignal;
  readonly allowPrivate: boolean;
  readonly resolveHost: ResolveHostUntil;
}): Promise<number> {
  const url = new URL(post.url);
  const refusal = webhookUrlProblem(url, post.allowPrivate);
  if (refusal !== null) throw new AddressRefusedError(`the URL ${refusal}`);
  const resolveHost = (hostname: string) => post.resolveHost(hostname, post.signal);
  const options = {
    method: "POST",
    headers: { ...post.headers, "content-length": String(Buffer.byteLength(post.body)) },
    // Each attempt gets a new connection, so that the address is checked each time.
    agent: false,
    signal: post.signal,
    lookup: post.allowPrivate ? lookupBy(resolveHost) : publicLookup(resolveHost, refused),
  } as const;
  return new Promise((resolve, reject) => {
    const request = url.protocol === "https:" ? https.request(url, options) : http.request(url, options);
    request.once("error", reject);
    // An upgrade (101) causes no "response" event.
    request.once("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    // This listener settles the promise if the socket closes without any other event.
    const onClose = (): void => reject(new Error("the connection closed without a response"));
    request.once("close", onClose);
    request.once("response", (response) => {
      // The status is the result, so errors of the body are ignored.
      request.off("error", reject).on("error", () => undefined);
      request.off("close", onClose);
      let readBytes = 0;
      response.on("error", () => undefined);
      response.on("data", (chunk: Buffer) => {
        readBytes += chunk.length;
        if (readBytes > MAX_RESPONSE_BYTES) response.destroy();
      });
      response.once("close", () => resolve(response.statusCode ?? 0));
    });
    request.end(post.body);
  });
}

/** Returns an error without the address: a client must not see how names resolve inside the operator's network. */
function refused(hostname: string): Error {
  return new AddressRefusedError(`the host ${hostname} has a private address`);
}

/** Returns why webhooks may not be sent to `url`; null if they may. Addresses of host names are checked later. */
export function webhookUrlProblem(url: URL, allowPrivate: boolean): string | null {
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:")) return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
  if (!allowPrivate && privateLiteralOf(url) !== null) return "must not be a private address";
  return null;
}
