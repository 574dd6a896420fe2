import { JobFailure } from "../../../shared/errors.ts";

/** Reads a whole body. `what` names it in the message. @throws {JobFailure} when it has more than `maxBytes`. */
export async function readBody(body: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new JobFailure("model_unavailable", `${what} is longer than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Undefined when the text is not JSON, so that the caller's schema refuses it, too. */
export function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
