import type { Clock } from "../shared/clock.ts";
import { CloseLimit } from "../shared/async/close-limit.ts";
import type { AccountService } from "./accounts/account-service.ts";
import type { Bus } from "./bus/bus.ts";
import type { CatalogSync } from "./catalog/catalog-sync.ts";
import type { ClusterMember } from "./cluster/cluster-member.ts";
import type { CredentialWatch } from "./cluster/credential-watch.ts";
import type { Peers } from "./cluster/peers.ts";
import type { ConversationService } from "./conversations/conversation-service.ts";
import type { Dispatcher } from "./dispatch/dispatcher.ts";
import type { AccountEvents } from "./events/account-events.ts";
import type { Batches } from "./dialects/batches/open-batches.ts";
import type { Files } from "./files/open-files.ts";
import type { Listener } from "./http/server/transport.ts";
import type { IslandRegistry } from "./islands/island-registry.ts";
import type { BatchGate } from "./jobs/batches/batch-gate.ts";
import type { JobRegistry } from "./jobs/job-registry.ts";
import type { openGateway } from "./open-gateway.ts";
import type { openHosts } from "./open-hosts.ts";
import type { Suspensions } from "./operators/suspensions.ts";
import type { Retention } from "./retention/retention.ts";
import type { Store } from "./store/store.ts";
import type { Tracing } from "./tracing/open-tracing.ts";
import type { WebhookSender } from "./webhooks/webhook-sender.ts";

/** How long each part of a stop may take: open streams and answers (clients resume them), jobs that move, what is left with a database. */
const MAX_CLOSE_MS = 2_000;
/** Islands reconnect this long after an orderly stop of the coordinator. */
const RETURN_AFTER_MS = 1_000;

/** What a running coordinator has opened. */
export interface OpenParts {
  /** True for a database, which may be away for long. A file is not, and is left in order. */
  readonly storageMayBeAway: boolean;
  readonly accounts: AccountService;
  readonly bus: Bus;
  readonly catalogSync: CatalogSync;
  readonly clock: Clock;
  readonly conversations: ConversationService;
  readonly credentials: CredentialWatch | undefined;
  readonly dispatcher: Dispatcher;
  readonly events: AccountEvents;
  readonly fileBatches: Batches;
  readonly files: Files;
  readonly gate: BatchGate;
  readonly gateway: ReturnType<typeof openGateway>;
  readonly hosts: ReturnType<typeof openHosts>;
  readonly islands: IslandRegistry;
  readonly listener: Listener;
  readonly member: ClusterMember | null;
  readonly peers: Peers;
  readonly registry: JobRegistry;
  readonly retention: Retention;
  readonly shared: { close(): void } | null;
  readonly store: Store;
  readonly tracing: Tracing | null;
  readonly suspensions: Suspensions;
  readonly webhooks: WebhookSender;
}

/** Answers first, then Islands and their jobs, then what works in the background, and storage last. */
export async function closeInOrder(parts: OpenParts): Promise<void> {
  const { clock, gateway, listener, member, registry } = parts;
  const streams = new CloseLimit(clock, MAX_CLOSE_MS);
  parts.conversations.close();
  parts.events.close();
  const batchesLeft = parts.fileBatches.close();
  // Cut chats are cancelled, like those whose client leaves. This comes first, while storage and Islands still work.
  await listener.finishAnswers(streams.signal);
  // While storage cannot be written, the end of a job may never become durable: it is restored at the next start.
  await streams.within(batchesLeft);
  await streams.within(registry.settled());
  const moves = new CloseLimit(clock, MAX_CLOSE_MS);
  await gateway.close(RETURN_AFTER_MS, await member?.handOver(moves.signal));
  moves.end();
  await listener.close(streams.signal);
  streams.end();
  const rest = new CloseLimit(clock, parts.storageMayBeAway ? MAX_CLOSE_MS : null);
  await rest.within(parts.catalogSync.close());
  registry.close();
  parts.dispatcher.close();
  parts.islands.close();
  parts.gate.close();
  await rest.within(member?.closeTakeOver());
  await rest.within(parts.webhooks.close());
  await rest.within(parts.hosts.figures.close());
  await rest.within(parts.tracing?.close());
  await rest.within(parts.files.close());
  await rest.within(parts.retention.close());
  await rest.within(parts.accounts.settled());
  parts.suspensions.close();
  parts.credentials?.close();
  await rest.within(member?.leave());
  parts.shared?.close();
  parts.peers.close();
  await rest.within(parts.bus.close());
  await rest.within(parts.store.close());
  rest.end();
}
