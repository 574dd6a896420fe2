import { z } from "@hono/zod-openapi";
import type { Catalog } from "../../catalog/catalog.ts";
import { NO_COUNTS } from "../../store/ledger/host-figures.ts";
import type { ListedIsland, OperatorIslands } from "../../operators/operator-islands.ts";
import { islandDetailSchema, islandSchema, presentIsland, presentIslandDetail } from "./island-schemas.ts";
import { presentEmail } from "./operator-schemas.ts";

const ownerShape = {
  account_id: z.string().openapi({ description: "Of its owner" }),
  account_email: z.string().nullable(),
};

/** Without the figures, which are read for one Island at a time. */
export const knownIslandSchema = islandSchema
  .omit({ uptime: true, jobs: true, tokens: true, earned: true })
  .extend(ownerShape)
  .openapi("KnownIsland");

export const knownIslandDetailSchema = islandDetailSchema.extend(ownerShape).openapi("KnownIslandDetail");

const NOTHING = { today: 0, days7: 0, days30: 0 };
const NO_FIGURES = { uptime: NOTHING, earnedMicro: NOTHING, counts: NO_COUNTS, byDay: () => [] };

export function presentKnownIsland(island: ListedIsland): z.infer<typeof knownIslandSchema> {
  const { record } = island;
  const {
    uptime: _,
    jobs: _jobs,
    tokens: _tokens,
    earned: _earned,
    ...shown
  } = presentIsland({ ...island, figures: NO_FIGURES });
  return { ...shown, account_id: record.accountId, account_email: presentEmail(record.email) };
}

export function presentKnownIslandDetail(
  { island, known }: Awaited<ReturnType<OperatorIslands["get"]>>,
  catalog: Pick<Catalog, "list">,
): z.infer<typeof knownIslandDetailSchema> {
  return {
    ...presentIslandDetail(island, catalog),
    account_id: known.accountId,
    account_email: presentEmail(known.email),
  };
}
