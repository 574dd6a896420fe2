import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto";
import type { FileGrant } from "../files/file-grants.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

const SECRET_BYTES = 32;

export type AttemptProofs = ReturnType<typeof attemptProofs>;

/** Reads the network's secret, or creates one. After a new one, jobs that Islands hold run again. */
export async function openAttemptProofs(secrets: SharedSecrets): Promise<AttemptProofs> {
  const stored = await secrets.read("proofs");
  if (stored?.length === SECRET_BYTES) return attemptProofs(stored);
  const made = randomBytes(SECRET_BYTES);
  if (stored === null) return attemptProofs(await secrets.add("proofs", made));
  // A crash of an earlier version could leave a shorter secret, which would be easy to guess.
  await secrets.replace("proofs", made);
  return attemptProofs(made);
}

/**
 * Issues and checks attempt tokens, which prove that an attempt was given to an Island. An Island that returns after a
 * restart presents them, so that a job cannot be taken by guessing its id, even if the assignment was not durable yet.
 * On the wire the token is the field `claim`.
 */
export function attemptProofs(secret: Buffer) {
  // Created once: from bytes, Node.js creates a key object for each token, which takes six times as long.
  const key = createSecretKey(secret);
  const proofOf = (text: string): string => createHmac("sha256", key).update(text).digest("base64url");
  const issue = (jobId: string, attempt: number, hostId: string): string => proofOf(`${jobId} ${attempt} ${hostId}`);
  /** Signs the address at which an Island fetches a file of its job. */
  const signFile = ({ fileId, jobId, attempt, hostId, accountId, expiresAtMs }: FileGrant): string =>
    proofOf(`file ${fileId} ${jobId} ${attempt} ${hostId} ${accountId} ${expiresAtMs}`);
  return {
    issue,
    signFile,
    /**
     * The account's `cacheKey` on an Island. An Island cannot derive from it whose jobs it runs, nor match it with
     * another Island.
     */
    cacheKey: (accountId: string, hostId: string): string => proofOf(`cache ${accountId} ${hostId}`),
    isValid(proof: string, jobId: string, attempt: number, hostId: string): boolean {
      return isSame(proof, issue(jobId, attempt, hostId));
    },
    isFileSignature(signature: string, grant: FileGrant): boolean {
      return isSame(signature, signFile(grant));
    },
  };
}

function isSame(text: string, secret: string): boolean {
  const [given, wanted] = [Buffer.from(text), Buffer.from(secret)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
