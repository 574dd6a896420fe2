import { createHmac, createSecretKey, randomBytes, timingSafeEqual, type KeyObject } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SECRET_BYTES = 32;

/**
 * Proofs that an attempt was given to an Island, made from a secret of this coordinator. An Island that comes back after a
 * restart shows them, so that nobody can take a job by guessing its id, even if the assignment was not durable yet. On the wire
 * a proof is the field `claim`.
 */
export class AttemptProofs {
  /** Made once: from bytes, Node.js makes a key for each proof, in six times the time. */
  readonly #key: KeyObject;

  constructor(secret: Buffer) {
    this.#key = createSecretKey(secret);
  }

  /** Reads the secret of a data directory (`claims.key`), or makes one. With a new one, jobs that Islands hold run again. */
  static async open(dataDirectory: string): Promise<AttemptProofs> {
    const path = join(dataDirectory, "claims.key");
    try {
      const stored = await readFile(path);
      // A crash during the first write leaves a shorter file, which would be a secret that is easy to guess.
      if (stored.length === SECRET_BYTES) return new AttemptProofs(stored);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    const secret = randomBytes(SECRET_BYTES);
    await writeFile(path, secret, { mode: 0o600 });
    return new AttemptProofs(secret);
  }

  issue(jobId: string, attempt: number, hostId: string): string {
    return this.#proofOf(`${jobId} ${attempt} ${hostId}`);
  }

  /** The account's `cacheKey` on an Island: no Island learns from it whose jobs it runs, nor that another Island runs theirs too. */
  cacheKey(accountId: string, hostId: string): string {
    return this.#proofOf(`cache ${accountId} ${hostId}`);
  }

  isValid(proof: string, jobId: string, attempt: number, hostId: string): boolean {
    const wanted = Buffer.from(this.issue(jobId, attempt, hostId));
    const given = Buffer.from(proof);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  #proofOf(text: string): string {
    return createHmac("sha256", this.#key).update(text).digest("base64url");
  }
}
