import { join } from "node:path";
import { importedModelsDirectory } from "../catalog/imported-models.ts";
import { isExposed, registrationOf } from "../config/exposure.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";

export type HttpOptions = ReturnType<typeof httpOptionsOf>;

export function httpOptionsOf(config: CoordinatorConfig, { answerMemoryBytes }: MemoryBudgets) {
  const { publicUrl, publicPage, chatWaitMs, trustProxy, publicRequestsPerMinute, metricsToken } = config;
  const openMetrics = isExposed(config) ? ("off" as const) : ("open" as const);
  return {
    /** Origin, and path prefix if any, at which clients reach the coordinator; null: taken from each request. */
    publicUrl,
    /** Facts about accounts for the public page; null if the page is off. */
    publicPage: publicPage ? { registration: registrationOf(config), newAccountMicro: config.newAccountMicro } : null,
    /** Time that a chat waits for an Island. */
    chatWaitMs,
    /** Interval of the comment lines of an SSE stream, which keep proxies from closing it while it is silent. */
    heartbeatMs: config.sseHeartbeatMs,
    /** Whether the client's address is in X-Forwarded-For. */
    trustProxy,
    /** Requests per minute that a client address may send without a valid key or session. */
    publicRequestsPerMinute,
    answerMemoryBytes,
    /** Access to /metrics: open, off, or with a token. */
    metrics: metricsToken === null ? openMetrics : { token: metricsToken },
  };
}

export function servedFolders(config: Pick<CoordinatorConfig, "catalogDirectory" | "dataDirectory">) {
  return {
    modelDirectories: [join(config.catalogDirectory, "models"), importedModelsDirectory(config)],
    downloadsDirectory: join(config.dataDirectory, "downloads"),
  };
}
