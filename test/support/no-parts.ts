import { openAuditor } from "../../coordinator/audits/auditor.ts";
import { openBatches } from "../../coordinator/dialects/batches/open-batches.ts";
import { openFiles } from "../../coordinator/files/open-files.ts";
import { openIslandGateway } from "../../coordinator/islands/gateway.ts";
import type { MeasuredParts } from "../../coordinator/metrics/metrics.ts";
import { openWebhooks } from "../../coordinator/webhooks/webhook-sender.ts";
import { ManualClock } from "./manual-clock.ts";
import { testEnv } from "./test-env.ts";

const clock = new ManualClock();
/** Returns parts of which only the metrics are used. */
const unused = <T>(given: object): T => ({ clock, ...given }) as T;
const env = testEnv({}, { clock });
const files = openFiles(env, unused({}), unused({}));
const noJobs = { subscribe: () => undefined };
const auditor = openAuditor(
  env,
  unused({}),
  unused({}),
  noJobs,
  unused({}),
  unused({}),
  unused({}),
  unused({}),
  () => 0,
);
const fileBatches = openBatches(env, unused({}), files, unused({}), unused({}), new Map());

/** Parts with metrics of a coordinator without any activity. */
export const NO_PARTS = {
  jobs: { list: () => [], relayedTokens: 0, subscribe: () => undefined },
  islands: { connectedCount: 0, connected: () => [] },
  scheduler: { quarantinedCount: 0, waitsByReason: () => new Map() },
  work: { cachedTokens: 0 },
  store: { cluster: { isShared: false }, commits: 0, queued: 0, readOnlyReason: null },
  gateway: openIslandGateway(testEnv(), unused({}), unused({}), "", unused({}), () => ""),
  webhooks: { pendingCount: 0, metrics: openWebhooks(testEnv(), unused({}), async () => "").metrics },
  auditor: { metrics: auditor.metrics },
  files: { kept: async () => ({ files: 0, bytes: 0 }), metrics: files.metrics },
  fileBatches: { metrics: fileBatches.metrics, runningCount: 0, linesInFlight: 0 },
  version: "1",
  clock,
  seen: { elsewhere: () => null },
  peers: { failed: { unreachable: 0, timeout: 0, refused: 0 } },
  member: { counts: { stolen: 0, handedOver: 0, adopted: 0, claimed: 0, reaped: 0 } },
} satisfies MeasuredParts;

/** Parts of one of several coordinators. */
export const SHARING_PARTS = {
  ...NO_PARTS,
  store: { ...NO_PARTS.store, cluster: { isShared: true } },
} satisfies MeasuredParts;
