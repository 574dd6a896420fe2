import { SEEDED_FEATURE } from "../../shared/features/cargo-features.ts";
import { formatBytes } from "../../shared/format-bytes.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import type { ActiveJob } from "../jobs/active-job.ts";
import type { JobTraits } from "../jobs/job-traits.ts";
import type { AuditPlan } from "../store/audits.ts";
import { auditKindOf, type AuditKind, needsSeed } from "./audit-kinds.ts";
import type { Readers } from "./readers.ts";
import { auditChance, MAX_UNCLEAR, MIN_CHANCE } from "../credits/standing.ts";
import { MAX_REPEATED_BYTES } from "./repeat-question.ts";
import type { Standings } from "./standings.ts";

/** Work of a job for each output token, in prompt tokens. */
const OUTPUT_WORK = 4;
/** Maximum work of a Cargo's audits of proven owners that jobs without audits make up for. */
const MAX_SAVED = 1_000_000;

/**
 * Decides which jobs are audited. Returns a function for a job that has ended: null pays the owner at once, because the
 * job is the owner's own, the owner is trusted, or no other owner could audit the answer. A job whose client refuses
 * audits is only held.
 * @param share Share of each Cargo's work that audits of proven owners may take.
 */
export function planAudits(
  standings: Pick<Standings, "of">,
  readers: Pick<Readers, "exists" | "hasFeature">,
  cargoOf: (job: ActiveJob) => CatalogEntry | undefined,
  share: number,
  random: () => number,
) {
  /** Work that audits of proven owners may take now, by Cargo. */
  const saved = new Map<string, number>();

  function canRepeat({ state, earner, onlyIslandsOf }: ActiveJob, cargo: CatalogEntry): boolean {
    // A repeat is not repeated again.
    if (state !== "completed" || onlyIslandsOf !== null) return false;
    return !needsSeed(cargo) || (earner !== null && readers.hasFeature(earner.islandId, SEEDED_FEATURE));
  }

  return (job: ActiveJob): AuditPlan | null => {
    const { earner, accountId, traits, feed, slug, terms } = job;
    const cargo = cargoOf(job);
    const kind = cargo === undefined ? null : auditKindOf(cargo);
    if (earner === null || earner.accountId === accountId || cargo === undefined || kind === null) return null;
    const standing = standings.of(earner.accountId, slug);
    if (standing.state === "trusted") return null;
    if (!readers.exists(cargo, new Set([earner.accountId, accountId]), terms.trust === "proven")) return null;
    const { work, cost } = kind === "read" ? workOfReading(job) : WORK_OF_REPEAT;
    const left = Math.min(MAX_SAVED, (saved.get(slug) ?? 0) + share * work);
    saved.set(slug, left);
    if (terms.audit === "never") return "none";
    const isFit = kind === "read" ? feed.hasText : canRepeat(job, cargo);
    const canJudge = traits !== null && unjudgeableOf(kind, traits) === null && isFit;
    // Otherwise an Island could make its results too large to be repeated.
    if (kind === "repeat" && job.outputBytes > MAX_REPEATED_BYTES) return "unclear";
    const draw = random();
    if (!canJudge) return "none";
    if (draw >= auditChance(standing)) return (standing.unclear ?? 0) >= MAX_UNCLEAR ? "unclear" : "none";
    if (standing.state !== "proven") return "due";
    // Otherwise owners that have just become proven would use up the budget of the others.
    if (left < cost && draw >= Math.min(MIN_CHANCE, share)) return "none";
    saved.set(slug, left - cost);
    return "due";
  };
}

/** A repeat costs as much as the job. Both are counted in jobs. */
const WORK_OF_REPEAT = { work: 1, cost: 1 };

/** Returns the work of a chat and of its reading, in prompt tokens. */
function workOfReading({ prompt, feed }: ActiveJob): { readonly work: number; readonly cost: number } {
  const cost = (prompt?.total ?? 0) + feed.tokens;
  return { work: cost + (OUTPUT_WORK - 1) * feed.tokens, cost };
}

/**
 * Returns why an answer cannot be judged; null if it can. A text can be read if only the prompt and the model determine
 * it, and a job can be repeated by the account that pays for audits if it names no file.
 */
export function unjudgeableOf(kind: AuditKind, traits: JobTraits): string | null {
  const { responseFormat, toolUse, canReason, features, promptBytes } = traits;
  if (kind === "repeat") {
    const isFit = !features.includes(FILES_FEATURE) && promptBytes <= MAX_REPEATED_BYTES;
    if (isFit) return null;
    const max = formatBytes(MAX_REPEATED_BYTES);
    return `only a job without uploaded files and with an input of at most ${max} can be repeated`;
  }
  const isText = responseFormat.type === "text" && toolUse === null && !canReason && !features.includes("chat.images");
  return isText ? null : "only a text without JSON, tools, reasoning and images can be judged";
}
