import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const SECRET_BYTES = 32;

/**
 * Proofs that an attempt was given to an Island, made from a secret of this coordinator. An Island that comes back after a
 * restart shows them, so that nobody can take a job by guessing its id, also when the assignment was not durable yet.
 */
export class Claims {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Reads the secret of a data directory, or makes it. Without it held jobs are run anew, nothing else. */
  static async open(dataDirectory: string): Promise<Claims> {
    const path = join(dataDirectory, "claims.key");
    try {
      const kept = await readFile(path);
      // A crash in the middle of the first write leaves less, which would be a secret that anybody can guess.
      if (kept.length === SECRET_BYTES) return new Claims(kept);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    const secret = randomBytes(SECRET_BYTES);
    await writeFile(path, secret, { mode: 0o600 });
    return new Claims(secret);
  }

  issue(jobId: string, attempt: number, hostId: string): string {
    return createHmac("sha256", this.#secret).update(`${jobId} ${attempt} ${hostId}`).digest("base64url");
  }

  proves(claim: string, jobId: string, attempt: number, hostId: string): boolean {
    const wanted = Buffer.from(this.issue(jobId, attempt, hostId));
    const given = Buffer.from(claim);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }
}
