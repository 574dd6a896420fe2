import { createRequire } from "node:module";

const require = createRequire(import.meta.url);

/**
 * Loads a package of this folder's package.json. Callers declare the types they use, so that `npm run types` works without the packages.
 */
export const loadPackage = <T>(name: "bullmq" | "graphile-worker"): T => require(name) as T;
