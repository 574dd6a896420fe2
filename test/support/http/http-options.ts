import type { HttpOptions } from "../../../coordinator/http/http-options.ts";

/** Settings of the API for tests that build it without a configuration. */
export const TEST_HTTP_OPTIONS: HttpOptions = {
  publicUrl: null,
  publicPage: { registration: "open", newAccountMicro: 10_000_000 },
  chatWaitMs: 60_000,
  heartbeatMs: 15_000,
  metrics: "open",
  trustProxy: false,
  publicRequestsPerMinute: 300,
  answerMemoryBytes: 64 * 1_024 * 1_024,
};
