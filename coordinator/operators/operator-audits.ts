import { ServiceError } from "../../shared/errors.ts";
import type { Auditor } from "../audits/auditor.ts";
import type { Store } from "../store/store.ts";
import type { Actor, AuditTrail } from "./audit-trail.ts";

/** Maximum number of an Island's jobs that are audited again together. */
export const MAX_REPEATED_AUDITS = 10;

export type OperatorAudits = ReturnType<typeof operatorAudits>;

/** Audits that operators demand, at this coordinator. */
export function operatorAudits(
  store: Pick<Store, "audits" | "operators">,
  trail: AuditTrail,
  auditor: Pick<Auditor, "refusalOf" | "resume">,
) {
  return {
    /**
     * Audits an ended job again, or for the first time.
     * @throws {ServiceError} `not_found`, `content_removed`; `bad_request` if the job cannot be audited
     */
    async ofJob(actor: Actor, jobId: string): Promise<void> {
      const refusal = await auditor.refusalOf(jobId);
      if (refusal !== null) throw refusal;
      const auditEvent = { action: "job.audit", targetKind: "job", targetId: jobId } as const;
      await trail.record(actor, auditEvent, ({ audits }) => audits.again([jobId]));
      auditor.resume([jobId]);
    },

    /**
     * Audits the latest jobs of an Island again, or for the first time. Returns their ids.
     * @throws {ServiceError} `not_found`; `bad_request` if none can be audited
     */
    async ofIsland(actor: Actor, hostId: string): Promise<string[]> {
      if ((await store.operators.island(hostId)) === undefined) {
        throw new ServiceError("not_found", `No Island has the id "${hostId}"`);
      }
      const latest = await store.audits.ofIsland(hostId, MAX_REPEATED_AUDITS);
      const refusals = await Promise.all(latest.map((jobId) => auditor.refusalOf(jobId)));
      const jobs = latest.filter((_, index) => refusals[index] === null);
      if (jobs.length === 0) {
        const facts = `${latest.length} of its jobs had held earnings, and none of them can be audited`;
        throw new ServiceError("bad_request", `The Island "${hostId}" cannot be audited: ${facts}`);
      }
      const auditEvent = { action: "island.audit", targetKind: "island", targetId: hostId, after: { jobs } } as const;
      await trail.record(actor, auditEvent, ({ audits }) => audits.again(jobs));
      auditor.resume(jobs);
      return jobs;
    },
  };
}
