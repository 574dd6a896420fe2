import { openPasswords, type Passwords } from "../../coordinator/accounts/passwords.ts";

/** Returns passwords with cheap hashes. A normal hash takes 0.1 s of a core. */
export const quickPasswords = (): Passwords => openPasswords({ cost: 2, blockSize: 1, parallelization: 1 });
