import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobTraits } from "../jobs/job-traits.ts";
import type { AuditPlan } from "../store/audits.ts";
import type { Readers } from "./readers.ts";
import { auditChance } from "../credits/standing.ts";
import type { Standings } from "./standings.ts";

/** Work of a job for each output token, in prompt tokens. */
const OUTPUT_WORK = 4;
/** Maximum audits of proven owners, in prompt tokens, that jobs without audits make up for. */
const MAX_SAVED = 1_000_000;

/**
 * Decides which jobs are audited. Returns a function for a job that has ended: null pays the owner at once, because the
 * job is the owner's own, the owner is trusted, or no other owner could read the answer. A job whose client refuses
 * audits is only held.
 * @param share Share of all work that audits of proven owners may take.
 */
export function planAudits(
  standings: Pick<Standings, "of">,
  readers: Pick<Readers, "exists">,
  cargoOf: (job: ActiveJob) => CatalogEntry | undefined,
  share: number,
  random: () => number,
) {
  let saved = 0;
  return (job: ActiveJob): AuditPlan | null => {
    const { earner, accountId, traits, feed, slug, terms } = job;
    const cargo = cargoOf(job);
    if (earner === null || earner.accountId === accountId || cargo === undefined || !isReadable(cargo)) return null;
    const standing = standings.of(earner.accountId, slug);
    if (standing.state === "trusted") return null;
    if (!readers.exists(cargo, new Set([earner.accountId, accountId]))) return null;
    const readTokens = (job.prompt?.total ?? 0) + feed.tokens;
    saved = Math.min(MAX_SAVED, saved + share * (readTokens + (OUTPUT_WORK - 1) * feed.tokens));
    if (terms.audit === "never") return "none";
    const canJudge = traits !== null && isJudgeable(traits) && feed.hasText;
    if (!canJudge || random() >= auditChance(standing)) return "none";
    if (standing.state !== "proven") return "due";
    if (saved < readTokens) return "none";
    saved -= readTokens;
    return "due";
  };
}

/** Returns whether only the prompt and the model determine the answer, which is a text. */
export function isJudgeable({ responseFormat, toolUse, canReason, features }: JobTraits): boolean {
  return responseFormat.type === "text" && toolUse === null && !canReason && !features.includes("chat.images");
}

/** Answers after reasoning cannot be read. */
function isReadable({ isChat, runtimeType, reasoning }: CatalogEntry): boolean {
  return isChat && runtimeType === "llmcpp" && reasoning !== true;
}
