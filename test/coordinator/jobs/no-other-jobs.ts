import type { JobRouter } from "../../../coordinator/jobs/job-router.ts";

/** A coordinator that is alone has all jobs. */
export const NO_OTHER_JOBS: JobRouter = { find: async () => undefined };
