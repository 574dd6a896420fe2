import type { CommonStores } from "./all-steps.ts";
import type { BatchStore } from "./batches.ts";
import type { ClusterStore } from "./cluster-store.ts";
import type { ContentStore } from "./content.ts";
import type { JobStore } from "./jobs.ts";
import type { LedgerStore } from "./ledger-store.ts";
import type { SharedSecrets } from "./shared-secrets.ts";
import type { WebhookStore } from "./webhooks.ts";

/**
 * Durable storage of a coordinator. A write resolves after its commit; writes called in the same turn share one. Writes are applied
 * in call order. A read sees every write that has resolved.
 */
export interface Store extends Omit<CommonStores, "batches" | "content" | "jobs" | "webhooks"> {
  readonly name: string;
  readonly batches: BatchStore;
  /** Null for a store that one coordinator has for itself. */
  readonly cluster: ClusterStore | null;
  readonly content: ContentStore;
  readonly jobs: JobStore;
  readonly ledger: LedgerStore;
  readonly secrets: SharedSecrets;
  readonly webhooks: WebhookStore;
  /** Transactions committed since the store was opened. */
  readonly commits: number;
  /** Writes that wait for their commit now. */
  readonly queued: number;
  /** Why nothing new is stored now; writes then reject with `storage_unavailable`. Null while all is well. */
  readonly readOnlyBecause: string | null;
  /** Writes and reads one small value. @throws if storage does not answer. */
  check(): Promise<void>;
  /** Waits for the writes in progress, then closes; later calls reject. May be called twice. */
  close(): Promise<void>;
}
