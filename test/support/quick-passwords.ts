import { openPasswords, type Passwords } from "../../coordinator/accounts/passwords.ts";

/** A hash takes 0.1 s of a core otherwise. */
export const quickPasswords = (): Passwords => openPasswords({ cost: 2, blockSize: 1, parallelization: 1 });
