import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpBindings } from "@hono/node-server";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { CredentialUser } from "../accounts/known-callers.ts";
import type { Bus } from "../bus/bus.ts";
import type { Cargos } from "../catalog/cargo-service.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { AccountEvents } from "../events/account-events.ts";
import type { BatchApi } from "../jobs/batches/batch-service.ts";
import type { Files } from "../files/open-files.ts";
import type { Conversations } from "../conversations/conversations.ts";
import type { CargoAvailability } from "../islands/cargo-availability.ts";
import type { IslandGateway } from "../islands/gateway.ts";
import type { IslandService } from "../islands/island-service.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { Tracing } from "../tracing/open-tracing.ts";
import type { CallerQuota } from "../quotas/caller-quota.ts";
import type { JobApi } from "../jobs/job-service.ts";
import type { Operators } from "../operators/operators.ts";
import type { Suspensions } from "../operators/suspensions.ts";
import type { Retention } from "../retention/retention.ts";
import type { cargoRecommender } from "../recommendations/recommend.ts";
import type { Store } from "../store/store.ts";
import type { ErrorStyle } from "./error-responses.ts";
import type { HttpOptions } from "./http-options.ts";
import type { RequestLimits } from "./limits/request-limits.ts";

export interface HttpDeps {
  readonly jobs: JobApi;
  readonly batches: BatchApi;
  readonly accounts: Accounts;
  readonly catalog: Catalog;
  readonly cargos: Cargos;
  readonly conversations: Conversations;
  readonly files: Files;
  readonly islands: Pick<IslandService, "list" | "some" | "get" | "rename" | "remove" | "earnings">;
  readonly availability: Pick<CargoAvailability, "of">;
  readonly events: Pick<AccountEvents, "open" | "closed" | "note" | "noteAccount">;
  readonly islandSessions: Pick<IslandGateway, "endSessionsOf">;
  readonly operators: Operators;
  readonly recommend: ReturnType<typeof cargoRecommender>;
  readonly retention: Pick<Retention, "remove">;
  readonly store: Pick<Store, "check" | "readOnlyReason" | "accounts" | "ledger" | "usage">;
  /** The message bus between coordinators; null for a single coordinator. */
  readonly bus: Pick<Bus, "downReason"> | null;
  readonly metrics: Pick<Metrics, "contentType" | "http" | "read" | "speedOf">;
  /** Records spans of requests; null if tracing is off. */
  readonly tracing: Pick<Tracing, "within"> | null;
  readonly clock: Clock;
  readonly log: Pick<Logger, "info" | "error">;
  readonly quota: CallerQuota;
  readonly credentials: { serve(user: CredentialUser): void };
  readonly suspensions: Pick<Suspensions, "onAccounts">;
  readonly version: string;
  /** Folders of the files at /models. A file is read from the first folder that has it. */
  readonly modelDirectories: readonly string[];
  /** Folder of the packages at /download, which may be missing. */
  readonly downloadsDirectory: string;
  readonly options: HttpOptions;
}

/** Bindings and variables of a request. `middleware/request-context.ts` sets the variables. */
export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: {
    requestId: string;
    limits: RequestLimits;
    style: ErrorStyle;
    /** Account of the caller; absent for an unauthenticated caller. */
    accountId?: string;
  };
}

export type HttpApp = OpenAPIHono<HttpEnv>;

export const API_BASE = "/api/v1";
