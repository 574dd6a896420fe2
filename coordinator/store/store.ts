import type { Clock } from "../../shared/clock.ts";
import { openStores, type CommonStores } from "./all-steps.ts";
import { openBatches, type BatchStore } from "./jobs/batches.ts";
import type { Cluster } from "./cluster-store.ts";
import type { ContentStore } from "./jobs/content.ts";
import type { RunHotWrite } from "./jobs/hot-writes.ts";
import { openJobs, type JobStore } from "./jobs/jobs.ts";
import { pruneHourly } from "./prune.ts";
import type { SecretBox } from "./secrets/secret-box.ts";
import type { SharedSecrets } from "./secrets/shared-secrets.ts";
import type { RunStep } from "./steps/steps.ts";
import { openWebhookStore, type WebhookStore } from "./jobs/webhooks.ts";

/**
 * Durable storage of a coordinator. A write resolves after its commit; writes called in the same tick share a commit.
 * Writes are applied in call order. A read sees every write that has resolved before.
 */
export interface Store extends Omit<CommonStores, "batches" | "content" | "jobs" | "webhooks"> {
  readonly name: string;
  readonly batches: BatchStore;
  readonly cluster: Cluster;
  readonly content: ContentStore;
  readonly jobs: JobStore;
  readonly secrets: SharedSecrets;
  readonly webhooks: WebhookStore;
  /** Number of transactions committed since the store was opened. */
  readonly commits: number;
  /** Number of writes that wait for their commit. */
  readonly queued: number;
  /** Reason why the store is read-only and rejects writes with `storage_unavailable`; null while it is writable. */
  readonly readOnlyReason: string | null;
  /** Writes and reads one small value. @throws if storage does not respond. */
  check(): Promise<void>;
  /** Waits for the writes in progress, then closes the store. Later calls reject. May be called twice. */
  close(): Promise<void>;
}

/** Opens what all engines share. `stop` ends the hourly pruning; `assertPrunes` throws if a run failed. */
export function openCommon(
  run: RunStep,
  writeHot: RunHotWrite,
  writer: Pick<Store, "commits" | "queued" | "readOnlyReason">,
  secrets: SecretBox,
  clock: Clock,
) {
  const stores = openStores(run);
  const pruning = pruneHourly(stores.maintenance, clock);
  const store = {
    ...stores,
    batches: openBatches(stores.batches, writeHot, secrets),
    jobs: openJobs(stores.jobs, writeHot, secrets),
    webhooks: openWebhookStore(stores.webhooks, secrets),
    prune: pruning.now,
    get commits(): number {
      return writer.commits;
    },
    get queued(): number {
      return writer.queued;
    },
    get readOnlyReason(): string | null {
      return writer.readOnlyReason;
    },
  };
  return { store, stop: pruning.stop, assertPrunes: pruning.assertWorks };
}

/** Prunes a store that was just opened and returns it. If pruning fails, closes the store and rejects. */
export async function pruneAtStart<S extends Store & { prune(): Promise<void> }>(store: S): Promise<S> {
  try {
    await store.prune();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}
