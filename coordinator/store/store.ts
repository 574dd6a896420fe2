import type { AccountStore } from "./account-store.ts";
import type { BatchStore } from "./batch-store.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { ConversationStore } from "./conversation-store.ts";
import type { IslandStore } from "./island-store.ts";
import type { JobStore } from "./job-store.ts";
import type { LedgerStore } from "./ledger-store.ts";
import type { WebhookStore } from "./webhook-store.ts";

/**
 * Durable storage of a coordinator. Every write resolves after its commit, and what is asked for together is committed
 * together. Writes are applied in the order in which they were called. Reads see every write that has resolved.
 */
export interface Store {
  readonly name: string;
  readonly accounts: AccountStore;
  readonly batches: BatchStore;
  readonly catalog: CatalogStore;
  readonly conversations: ConversationStore;
  readonly islands: IslandStore;
  readonly jobs: JobStore;
  readonly ledger: LedgerStore;
  readonly webhooks: WebhookStore;
  /** Writes and reads something small. @throws when storage does not answer. */
  check(): Promise<void>;
  /** Waits for the writes under way, then closes; calls after it reject. */
  close(): Promise<void>;
}
