import { JobFailure } from "../../../shared/errors.ts";
import { GatheredBytes } from "../../../shared/async/gathered-bytes.ts";

/** Reads a whole body, which the message calls `what`. @throws {JobFailure} when it has more than `maxBytes`. */
export async function readBody(body: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const gathered = new GatheredBytes();
  for await (const chunk of body) {
    gathered.add(chunk);
    if (gathered.length > maxBytes) {
      throw new JobFailure("model_unavailable", `${what} is longer than ${maxBytes} bytes`);
    }
  }
  return gathered.bytes;
}

/** Returns undefined when the text is not JSON, so that the caller's schema rejects it. */
export function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
