import { join } from "node:path";
import { importedModelsDirectory } from "../catalog/imported-models.ts";
import { isExposed, registrationOf } from "../config/exposure.ts";
import type { MemoryBudgets } from "../config/memory-settings.ts";
import type { CoordinatorConfig } from "../config/resolve-config.ts";
import type { HttpDeps, HttpOptions } from "./http-deps.ts";

/** The settings of the HTTP API. */
export function httpOptionsOf(config: CoordinatorConfig, memory: MemoryBudgets): HttpOptions {
  return {
    publicUrl: config.publicUrl,
    publicPage: config.publicPage
      ? { registration: registrationOf(config), newAccountMicro: config.newAccountMicro }
      : null,
    chatWaitMs: config.chatWaitMs,
    heartbeatMs: config.sseHeartbeatMs,
    trustProxy: config.trustProxy,
    publicRequestsPerMinute: config.publicRequestsPerMinute,
    answerMemoryBytes: memory.answerMemoryBytes,
    metrics: config.metricsToken === null ? (isExposed(config) ? "off" : "open") : { token: config.metricsToken },
  };
}

/** Folders whose files the coordinator serves. */
export function servedFolders(
  config: Pick<CoordinatorConfig, "catalogDirectory" | "dataDirectory">,
): Pick<HttpDeps, "modelDirectories" | "downloadsDirectory"> {
  return {
    modelDirectories: [join(config.catalogDirectory, "models"), importedModelsDirectory(config)],
    downloadsDirectory: join(config.dataDirectory, "downloads"),
  };
}
