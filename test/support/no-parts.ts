import { FileBatchFigures } from "../../coordinator/file-batches/file-batch-figures.ts";
import { UploadFigures } from "../../coordinator/files/upload-figures.ts";
import { noFrames } from "../../coordinator/islands/frame-counts.ts";
import type { MetricsDeps } from "../../coordinator/metrics/metrics.ts";
import { WebhookFigures } from "../../coordinator/webhooks/webhook-figures.ts";
import { Tally } from "../../shared/tally.ts";
import { ManualClock } from "./manual-clock.ts";

const FILE_REFUSALS = { name: "atoll_file_refusals_total", help: "Files that were refused", labelNames: ["code"] };

/** The parts that metrics are read from, of a coordinator where nothing has happened. */
export const NO_PARTS = {
  jobs: { list: () => [], attempts: { relayedTokens: 0 }, subscribe: () => undefined },
  islands: { connectedCount: 0, connected: () => [] },
  scheduler: { quarantinedCount: 0, waitsByReason: () => new Map() },
  store: { commits: 0, queued: 0, readOnlyBecause: null },
  gateway: {
    frames: noFrames(),
    refusals: new Tally({ name: "atoll_session_refusals_total", help: "Islands that were refused", labelNames: [] }),
  },
  webhooks: { pendingCount: 0, figures: new WebhookFigures() },
  files: {
    figures: { kept: async () => ({ files: 0, bytes: 0 }), refusals: new Tally(FILE_REFUSALS) },
    uploads: { figures: new UploadFigures() },
  },
  fileBatches: { figures: new FileBatchFigures(), runningCount: 0, linesUnderWay: 0 },
  version: "1",
  clock: new ManualClock(),
  peers: { failed: { unreachable: 0, timeout: 0, refused: 0 } },
} satisfies Omit<MetricsDeps, "member">;

/** One coordinator of several, to which nothing has happened. */
export const LONELY_MEMBER = {
  counts: { stolen: 0, handedOver: 0, adopted: 0, claimed: 0, reaped: 0 },
  elsewhere: () => null,
} satisfies MetricsDeps["member"];
