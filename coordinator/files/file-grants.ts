import { z } from "zod";
import { ISLAND_FILES_PATH } from "../../shared/job-files.ts";

/** Lifetime of a grant: the time after the assignment of a job in which its files can be fetched. */
export const GRANT_MS = 3_600_000;

/** Permission for one Island to fetch a file of a job for one attempt, until it expires. */
export interface FileGrant {
  readonly fileId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly hostId: string;
  /** Account that owns the Island's token. */
  readonly accountId: string;
  readonly expiresAtMs: number;
}

/** Query of a request for a granted file. */
export const grantQuerySchema = z.object({
  job: z.string().max(64),
  attempt: z.coerce.number().int().positive(),
  host_id: z.guid(),
  expires: z.coerce.number().int().positive(),
  signature: z.string().max(100),
});

/** Returns path and query with which the Island fetches the granted file. */
export function grantAddress(grant: FileGrant, signature: string): string {
  const query = new URLSearchParams({
    job: grant.jobId,
    attempt: `${grant.attempt}`,
    host_id: grant.hostId,
    expires: `${grant.expiresAtMs}`,
    signature,
  });
  return `${ISLAND_FILES_PATH}${grant.fileId}?${query.toString()}`;
}
