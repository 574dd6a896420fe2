import { z } from "@hono/zod-openapi";
import { queryInt } from "../middleware/query.ts";

const MAX_OFFSET = 1_000_000_000;

/** Query of a list that is read by page. Bounds: spec §4, GET /jobs. */
export function pageQuery(defaultLimit = 20) {
  return { limit: queryInt(1, 100, defaultLimit), offset: queryInt(0, MAX_OFFSET, 0) };
}

/** Where a page stands in its list. Source: spec §2, list metadata. */
export const metaSchema = z.object({ total: z.int(), limit: z.int(), offset: z.int() });
