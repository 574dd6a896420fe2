import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * A package of this folder's own package.json. Its types are not there where it is not installed, so that `npm run types` works without:
 * each user says what it needs of it.
 */
export const loadPackage = <T>(name: "bullmq" | "graphile-worker"): T => require(name) as T;
