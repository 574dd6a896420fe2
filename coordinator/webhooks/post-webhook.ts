import { requestOutside, type OutsideRequest } from "./outside-request.ts";

/** Maximum bytes read of a response body, which is ignored. */
const MAX_RESPONSE_BYTES = 4_096;

/**
 * Posts a webhook once, without following redirects. Resolves with the HTTP status.
 * @throws {AddressRefusedError}; Node's error for a failed connection; an AbortError of `signal`.
 */
export async function postWebhook(post: OutsideRequest & { readonly body: string }): Promise<number> {
  const headers = { ...post.headers, "content-length": String(Buffer.byteLength(post.body)) };
  const request = requestOutside("POST", { ...post, headers });
  return new Promise((resolve, reject) => {
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
