import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto";
import type { FileGrant } from "../files/file-grants.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

const SECRET_BYTES = 32;

export type AttemptTokens = ReturnType<typeof attemptTokens>;

/** Reads the network's secret, or creates one. With a new secret, jobs that Islands hold run again. */
export async function openAttemptTokens(secrets: SharedSecrets): Promise<AttemptTokens> {
  const stored = await secrets.read("proofs");
  if (stored?.length === SECRET_BYTES) return attemptTokens(stored);
  const made = randomBytes(SECRET_BYTES);
  if (stored === null) return attemptTokens(await secrets.add("proofs", made));
  // A crash of an earlier version could leave a shorter secret, which would be easy to guess.
  await secrets.replace("proofs", made);
  return attemptTokens(made);
}

/**
 * Issues and checks attempt tokens (the wire's field `claim`), which prove that an attempt was given to an Island. A
 * job cannot be taken by guessing its id, even if the assignment was not durable yet.
 */
export function attemptTokens(secret: Buffer) {
  // The key object is created once. With bytes, Node.js creates one for each token, which takes six times as long.
  const key = createSecretKey(secret);
  const hmacOf = (text: string): string => createHmac("sha256", key).update(text).digest("base64url");
  const issue = (jobId: string, attempt: number, hostId: string): string => hmacOf(`${jobId} ${attempt} ${hostId}`);
  /** Signs the address at which an Island fetches a file of its job. */
  const signFile = ({ fileId, jobId, attempt, hostId, accountId, expiresAtMs }: FileGrant): string =>
    hmacOf(`file ${fileId} ${jobId} ${attempt} ${hostId} ${accountId} ${expiresAtMs}`);
  return {
    issue,
    signFile,
    /** Returns the cache key of an account on an Island. It hides the account id and differs on each Island. */
    cacheKey: (accountId: string, hostId: string): string => hmacOf(`cache ${accountId} ${hostId}`),
    isValid(token: string, jobId: string, attempt: number, hostId: string): boolean {
      return isSame(token, issue(jobId, attempt, hostId));
    },
    isFileSignature(signature: string, grant: FileGrant): boolean {
      return isSame(signature, signFile(grant));
    },
  };
}

function isSame(text: string, secret: string): boolean {
  const given = Buffer.from(text);
  const wanted = Buffer.from(secret);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
