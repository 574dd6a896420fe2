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
    /** URL at which clients reach the coordinator; null if it is derived from each request. */
    publicUrl,
    /** Content of the public page; null if the page is off. */
    publicPage: publicPage ? { registration: registrationOf(config), newAccountMicro: config.newAccountMicro } : null,
    chatWaitMs,
    heartbeatMs: config.sseHeartbeatMs,
    trustProxy,
    publicRequestsPerMinute,
    answerMemoryBytes,
    metrics: metricsToken === null ? openMetrics : { token: metricsToken },
  };
}

export function servedFolders(config: Pick<CoordinatorConfig, "catalogDirectory" | "dataDirectory">) {
  return {
    modelDirectories: [join(config.catalogDirectory, "models"), importedModelsDirectory(config)],
    downloadsDirectory: join(config.dataDirectory, "downloads"),
  };
}
