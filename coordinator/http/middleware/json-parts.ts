import { randomUUID } from "node:crypto";
import { LargeJson } from "../../store/jobs/large-json.ts";

/** JSON text, with the large values that are read from storage while it is written. */
export type JsonPart = string | LargeJson;

/** The JSON text of a value that may hold large values anywhere. One string when it holds none. */
export function jsonParts(value: unknown): readonly JsonPart[] {
  const large: LargeJson[] = [];
  // No text of a client can contain it.
  const mark = randomUUID();
  const text = JSON.stringify(value, (_key, each: unknown) => {
    if (!(each instanceof LargeJson)) return each;
    large.push(each);
    return mark;
  });
  return text
    .split(`"${mark}"`)
    .flatMap((part, index): JsonPart[] => (index === 0 ? [part] : [large[index - 1] as LargeJson, part]));
}

/** The text of the parts, piece by piece. */
export async function* piecesOfParts(parts: readonly JsonPart[]): AsyncGenerator<string, void, void> {
  for (const part of parts) {
    if (typeof part === "string") yield part;
    else yield* part.pieces();
  }
}
