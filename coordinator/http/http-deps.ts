import type { OpenAPIHono } from "@hono/zod-openapi";
import type { HttpBindings } from "@hono/node-server";
import type { Logger } from "pino";
import type { Clock } from "../../shared/clock.ts";
import type { AccountService } from "../accounts/account-service.ts";
import type { CargoService } from "../catalog/cargo-service.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { BatchApi } from "../jobs/batch-service.ts";
import type { ConversationService } from "../conversations/conversation-service.ts";
import type { Metrics } from "../metrics/metrics.ts";
import type { JobApi } from "../jobs/job-service.ts";
import type { Recommender } from "../recommendations/recommend.ts";
import type { Store } from "../store/store.ts";
import type { RequestLimits } from "./middleware/request-limits.ts";

export interface HttpOptions {
  /** Origin (and path prefix) under which clients reach the coordinator; null: that of each request. */
  readonly publicUrl: string | null;
  /** How long a chat waits for an Island. */
  readonly chatWaitMs: number;
  /** Between the comment lines that keep proxies from closing a silent stream. */
  readonly heartbeatMs: number;
  /** Believe `X-Forwarded-For`, `-Proto` and `-Host`; only behind a proxy that sets them. */
  readonly trustProxy: boolean;
  /** Requests of one client address that a minute may have, where no key or session is counted instead. */
  readonly publicRequestsPerMinute: number;
}

export const DEFAULT_HTTP_OPTIONS: HttpOptions = {
  publicUrl: null,
  chatWaitMs: 60_000,
  heartbeatMs: 15_000,
  trustProxy: false,
  publicRequestsPerMinute: 300,
};

/** What the API is built on. */
export interface HttpDeps {
  readonly jobs: JobApi;
  readonly batches: BatchApi;
  readonly accounts: AccountService;
  readonly catalog: Catalog;
  readonly cargos: CargoService;
  readonly conversations: ConversationService;
  readonly recommendations: Pick<Recommender, "recommend">;
  readonly store: Pick<Store, "check" | "accounts" | "ledger">;
  readonly metrics: Pick<Metrics, "read" | "contentType">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of the product, as /health tells it. */
  readonly version: string;
  /** Folder of the GGUF files that the coordinator itself serves at /models. */
  readonly modelsDirectory: string;
  readonly options: HttpOptions;
}

export interface HttpEnv {
  Bindings: HttpBindings;
  Variables: { requestId: string; limits: RequestLimits };
}

export type HttpApp = OpenAPIHono<HttpEnv>;

export const API_BASE = "/api/v1";

/** Paths whose errors must also please OpenAI's clients. */
const OPENAI_PATHS = [`${API_BASE}/chat/`, `${API_BASE}/models`, `${API_BASE}/embeddings`];

export function isOpenAiPath(path: string): boolean {
  return OPENAI_PATHS.some((start) => path.startsWith(start));
}
