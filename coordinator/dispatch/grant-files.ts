import type { Clock } from "../../shared/clock.ts";
import type { JobFile } from "../../shared/job-files.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { filePlacesOf } from "../catalog/file-places.ts";
import { GRANT_MS, grantAddress, type FileGrant, type GrantSigner } from "../files/file-grants.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import type { Store } from "../store/store.ts";
import { untilRead } from "../store/until-stored.ts";

interface GrantFilesDeps {
  readonly store: Pick<Store, "files">;
  readonly proofs: Pick<GrantSigner, "signFile">;
  readonly clock: Pick<Clock, "now" | "sleep">;
}

/** Lets an Island fetch the files of a job. Resolves with null if one is gone, as the account was deleted, or the job has ended. */
export async function grantFiles(
  { store, proofs, clock }: GrantFilesDeps,
  {
    cargo,
    input,
    ...island
  }: Omit<FileGrant, "fileId" | "expiresAtMs"> & {
    readonly cargo: Pick<CatalogEntry, "inputSchema">;
    readonly input: JobInput;
  },
): Promise<JobFile[] | null> {
  const places = filePlacesOf(cargo.inputSchema, input, JSON.stringify(input));
  const expiresAtMs = clock.now() + GRANT_MS;
  const files: JobFile[] = [];
  for (const { path, fileId, form } of places) {
    const file = await untilRead(() => store.files.held({ jobId: island.jobId, fileId }), clock);
    if (file === undefined) return null;
    const address = grantAddress({ ...island, fileId, expiresAtMs }, proofs);
    files.push({ at: [...path], form, bytes: file.sizeBytes, sha256: file.sha256, address });
  }
  return files;
}
