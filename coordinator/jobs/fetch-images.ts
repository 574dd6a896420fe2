import type { IncomingMessage } from "node:http";
import { dataUrlOf, imageProblem, MAX_IMAGES, MAX_IMAGES_BYTES } from "../../shared/chat-images.ts";
import { imagesOf } from "../../shared/chat-input.ts";
import { RateLimitedError, ValidationError } from "../../shared/errors.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { withValueAt } from "../../shared/job-files.ts";
import { isAddress } from "../catalog/input-check.ts";
import { charsOf, type CheckedInput } from "../catalog/input-text.ts";
import { mapInTurns } from "../../shared/async/own-turn.ts";
import { Pool } from "../quotas/pool.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import { AddressRefusedError, requestOutside } from "../webhooks/outside-request.ts";
import type { ResolveHostUntil } from "../webhooks/resolve-host.ts";

/** Limit of all downloads of a submission. */
const MAX_FETCH_MS = 10_000;
/** Submissions that download images at the same time. */
const MAX_FETCHING = { account: 4, all: 64 };

/** Text that the JSON of an input has if it has an image. */
const IMAGE_MEMBER = '"image_url":';

/** The image cannot be used, for a reason that the client may read. */
class ImageRefused extends Error {}

/**
 * Returns a function that replaces the addresses of images in checked inputs by data URLs, so that no attempt downloads
 * anything. The rules of webhooks apply to the addresses.
 * @param allowPrivate whether private addresses are allowed, and http
 */
export function imageFetcher(allowPrivate: boolean, resolveHost: ResolveHostUntil) {
  const fetching = new Pool(MAX_FETCHING);

  /** @throws {ValidationError} naming the first image that cannot be downloaded; {@link RateLimitedError} */
  return async <T extends CheckedInput & { readonly root: string }>(
    accountId: string,
    inputs: readonly T[],
  ): Promise<readonly T[]> => {
    const images = await mapInTurns(inputs, charsOf, ({ input, inputJson, root }, index) =>
      inputJson.includes(IMAGE_MEMBER)
        ? imagesOf(input).map(({ path, url }) => ({ index, path, url, field: [root, ...path].join(".") }))
        : [],
    );
    const found = images.flat();
    const addresses = found.filter(({ url }) => isAddress(url));
    const [first] = addresses;
    if (first === undefined) return inputs;
    const refuse = (field: string, message: string) => new ValidationError([{ path: field, message }]);
    if (found.length > MAX_IMAGES) {
      throw refuse(first.field, `is one of ${found.length} images; at most ${MAX_IMAGES} are allowed in a request`);
    }
    const release = fetching.take([["account", accountId], ["all"]]);
    if (typeof release === "string") {
      const message = "Too many images are being downloaded; wait for the other requests, or send data URLs";
      throw new RateLimitedError("concurrent_jobs", 1, message);
    }
    const signal = AbortSignal.timeout(MAX_FETCH_MS);
    const filled = new Map<number, JobInput>();
    let bytesLeft = MAX_IMAGES_BYTES;
    for (const { url } of found) if (!isAddress(url)) bytesLeft -= Math.floor((url.length * 3) / 4);
    try {
      for (const { index, path, url, field } of addresses) {
        const image = await fetchImage({ url, signal, allowPrivate, resolveHost }, bytesLeft).catch(
          (error: unknown) => {
            throw refuse(field, `could not be downloaded: ${reasonOf(error, signal)}`);
          },
        );
        const problem = imageProblem(image);
        if (problem !== null) throw refuse(field, problem);
        bytesLeft -= image.length;
        filled.set(index, withValueAt(filled.get(index) ?? inputs[index]?.input ?? {}, path, dataUrlOf(image)));
      }
    } finally {
      release();
    }
    return inputs.map((each, index) => {
      const input = filled.get(index);
      return input === undefined ? each : { ...each, input, inputJson: JSON.stringify(input) };
    });
  };
}

async function fetchImage(
  request: Omit<Parameters<typeof requestOutside>[1], "headers">,
  maxBytes: number,
): Promise<Buffer> {
  const sent = requestOutside("GET", { ...request, headers: { accept: "image/*", "user-agent": "atoll" } });
  const { promise: responded, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // The listener stays after the response: an error without listener would end the process.
  sent.on("error", reject).once("response", resolve);
  sent.once("close", () => reject(new Error("the connection closed without a response")));
  // An upgrade causes no response.
  sent.once("upgrade", (_response, socket) => {
    socket.destroy();
    reject(new ImageRefused("the server changed the protocol"));
  });
  sent.end();
  try {
    const response = await responded;
    const { statusCode = 0 } = response;
    if (statusCode >= 300 && statusCode < 400) {
      throw new ImageRefused(`the server redirects (${statusCode}); send the address to which it redirects`);
    }
    if (statusCode !== 200) throw new ImageRefused(`the server responded with status ${statusCode}`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        throw new ImageRefused(`the images are larger than ${formatBytes(MAX_IMAGES_BYTES)} together`);
      }
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    sent.destroy();
  }
}

/** Returns the reason for the client, without addresses inside the operator's network. */
function reasonOf(error: unknown, signal: AbortSignal): string {
  if (error instanceof ImageRefused || error instanceof AddressRefusedError) return error.message;
  if (signal.aborted) return `it took longer than ${MAX_FETCH_MS / 1_000} s`;
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined ? "the connection failed" : `the connection failed (${code})`;
}
