import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { Semaphore } from "../../shared/async/semaphore.ts";
import { RateLimitedError } from "../../shared/errors.ts";

/** Cost parameters of scrypt. */
interface Cost {
  /** N, a power of two. */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallelization: number;
}

/** Cost of new hashes: 32 MiB and about 0.1 s. Each stored hash includes its parameters, so they can be raised. */
const COST: Cost = { cost: 2 ** 15, blockSize: 8, parallelization: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Maximum concurrent hashes: each occupies 32 MiB and a thread of libuv's pool, which has 4 by default. */
const MAX_CONCURRENT = 2;
/** Maximum number of calls that wait for a hash. Further calls are refused. */
const MAX_WAITING = 64;
/** Added to scrypt's memory limit: it needs slightly more than the formula. */
const SPARE_BYTES = 2 ** 20;

const NEVER_ABORTED = new AbortController().signal;

/** Returns a hash that no password is known to have, for an account of the coordinator itself. */
export function unknownPasswordHash(): string {
  return textOf(COST, randomBytes(SALT_BYTES), randomBytes(HASH_BYTES));
}

function textOf({ cost, blockSize, parallelization }: Cost, salt: Buffer, hash: Buffer): string {
  const parameters = `${cost}$${blockSize}$${parallelization}`;
  return `scrypt$${parameters}$${salt.toString("base64")}$${hash.toString("base64")}`;
}

/** Opens hashing and verification of passwords. `cost`: parameters of new hashes. */
export function openPasswords(cost: Cost = COST) {
  const slots = new Semaphore<null>(MAX_CONCURRENT);
  let unfinished = 0;

  async function withSlot<T>(work: () => Promise<T>): Promise<T> {
    if (unfinished >= MAX_CONCURRENT + MAX_WAITING) throw new RateLimitedError("login_attempts", 1);
    unfinished += 1;
    await slots.acquire(null, NEVER_ABORTED);
    try {
      return await work();
    } finally {
      unfinished -= 1;
      slots.release();
    }
  }

  const passwords = {
    /** Returns `scrypt$N$r$p$salt$hash`, salt and hash in base64. @throws {RateLimitedError} if too many calls wait. */
    async hash(password: string): Promise<string> {
      const salt = randomBytes(SALT_BYTES);
      const hash = await withSlot(() => derive(password, salt, HASH_BYTES, cost));
      return textOf(cost, salt, hash);
    },

    /**
     * Returns whether the password is right. Without a stored hash, returns false after the same time.
     * @throws {RateLimitedError} if too many calls wait.
     */
    async verify(password: string, stored: string | undefined): Promise<boolean> {
      if (stored === undefined) {
        await passwords.hash(password);
        return false;
      }
      const [scheme, n, r, p, salt, hash] = stored.split("$");
      if (scheme !== "scrypt" || salt === undefined || hash === undefined)
        throw new Error("Unknown kind of password hash");
      const wanted = Buffer.from(hash, "base64");
      const parameters = { cost: Number(n), blockSize: Number(r), parallelization: Number(p) };
      const found = await withSlot(() => derive(password, Buffer.from(salt, "base64"), wanted.length, parameters));
      return timingSafeEqual(found, wanted);
    },
  };
  return passwords;
}

export type Passwords = ReturnType<typeof openPasswords>;

function derive(password: string, salt: Buffer, length: number, cost: Cost): Promise<Buffer> {
  // scrypt needs slightly more than 128 * r * (N + p) bytes; Node's default limit is just below that for the N used
  // here.
  const maxmem = 128 * cost.blockSize * (cost.cost + cost.parallelization) + SPARE_BYTES;
  return new Promise((resolve, reject) => {
    scrypt(password.normalize("NFKC"), salt, length, { ...cost, maxmem }, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}
