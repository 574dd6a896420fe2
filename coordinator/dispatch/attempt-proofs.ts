import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from "node:crypto";
import type { FileGrant, GrantSigner } from "../files/file-grants.ts";
import type { SharedSecrets } from "../store/secrets/shared-secrets.ts";

const SECRET_BYTES = 32;

/**
 * Proofs that an attempt was given to an Island, made from a secret of the network. An Island that comes back after a
 * restart shows them, so that nobody can take a job by guessing its id, even if the assignment was not durable yet. On the wire
 * a proof is the field `claim`.
 */
export class AttemptProofs implements GrantSigner {
  /** Made once: from bytes, Node.js makes a key for each proof, in six times the time. */
  readonly #key: KeyObject;

  constructor(secret: Buffer) {
    this.#key = createSecretKey(secret);
  }

  /** Reads the network's secret, or makes one. With a new one, jobs that Islands hold run again. */
  static async open(secrets: Pick<SharedSecrets, "read" | "add" | "replace">): Promise<AttemptProofs> {
    const stored = await secrets.read("proofs");
    if (stored?.length === SECRET_BYTES) return new AttemptProofs(stored);
    const made = randomBytes(SECRET_BYTES);
    if (stored === null) return new AttemptProofs(await secrets.add("proofs", made));
    // A crash of an earlier version left a shorter one, which would be easy to guess.
    await secrets.replace("proofs", made);
    return new AttemptProofs(made);
  }

  issue(jobId: string, attempt: number, hostId: string): string {
    return this.#proofOf(`${jobId} ${attempt} ${hostId}`);
  }

  /** The account's `cacheKey` on an Island: no Island learns from it whose jobs it runs, nor that another Island runs theirs too. */
  cacheKey(accountId: string, hostId: string): string {
    return this.#proofOf(`cache ${accountId} ${hostId}`);
  }

  /** Signs the address at which an Island fetches a file of its job. */
  signFile({ fileId, jobId, attempt, hostId, accountId, expiresAtMs }: FileGrant): string {
    return this.#proofOf(`file ${fileId} ${jobId} ${attempt} ${hostId} ${accountId} ${expiresAtMs}`);
  }

  isValid(proof: string, jobId: string, attempt: number, hostId: string): boolean {
    return isSame(proof, this.issue(jobId, attempt, hostId));
  }

  isFileSignature(signature: string, grant: FileGrant): boolean {
    return isSame(signature, this.signFile(grant));
  }

  #proofOf(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}

function isSame(text: string, secret: string): boolean {
  const [given, wanted] = [Buffer.from(text), Buffer.from(secret)];
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
