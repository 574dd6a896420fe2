import { z } from "zod";
import { ISLAND_FILES_PATH } from "../../shared/job-files.ts";

/** Longest time between the assignment of a job and the last request for its files. */
export const GRANT_MS = 3_600_000;

/** Who may fetch a file of a job: one Island, for one attempt, until then. */
export interface FileGrant {
  readonly fileId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly hostId: string;
  /** Whose Island it is: the owner of the token that it shows. */
  readonly accountId: string;
  readonly expiresAtMs: number;
}

/** What an address has behind the id of its file. */
export const grantQuerySchema = z.object({
  job: z.string().max(64),
  attempt: z.coerce.number().int().positive(),
  host_id: z.guid(),
  expires: z.coerce.number().int().positive(),
  signature: z.string().max(100),
});

/** The path and query at which the Island of a grant fetches the file. */
export function grantAddress(grant: FileGrant, signature: string): string {
  const { fileId, jobId, attempt, hostId, expiresAtMs } = grant;
  const query = new URLSearchParams({
    job: jobId,
    attempt: String(attempt),
    host_id: hostId,
    expires: String(expiresAtMs),
    signature,
  });
  return `${ISLAND_FILES_PATH}${fileId}?${query.toString()}`;
}
