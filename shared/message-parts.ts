import { z } from "zod";
import { isJsonObject } from "./json-value.ts";

/** Parts, calls and results of all messages together. Refusing 300,000 wrong ones took 3 to 8 s (2 cores, 2026-11). */
const MAX_PARTS = 16_384;
/** Members of messages, and of blocks in messages, that are lists of parts. */
const LISTS = ["content", "tool_calls", "output"] as const;

/** The schema of a list of messages, which looks at none of them if they have too many parts. */
export function withPartsLimit<S extends z.ZodType>(schema: S) {
  return z
    .preprocess((messages, context) => {
      if (countParts(messages) > MAX_PARTS) {
        context.addIssue({ code: "custom", message: `have more than ${MAX_PARTS} parts together; send fewer` });
      }
      return messages;
    }, schema)
    .describe(`With at most ${MAX_PARTS} parts together`);
}

/** Counts until there are too many. @param before Those that were counted before. */
function countParts(list: unknown, before = 0): number {
  let count = before;
  for (const entry of Array.isArray(list) ? list : []) {
    for (const name of LISTS) {
      const parts: unknown = isJsonObject(entry) ? entry[name] : undefined;
      if (!Array.isArray(parts)) continue;
      count += parts.length;
      if (count <= MAX_PARTS) count = countParts(parts, count);
      if (count > MAX_PARTS) return count;
    }
  }
  return count;
}
