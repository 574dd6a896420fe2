import { routeGroup, type RouteGroup } from "../http/route-group.ts";
import { serveSpeech } from "./audio/speech.ts";
import { serveTranscriptions } from "./audio/transcriptions.ts";
import type { FileBatchApi } from "./batches/file-batch-service.ts";
import { serveFileBatches } from "./batches/routes.ts";
import { serveCompletions } from "./completions/routes.ts";
import { embeddingRoutes } from "./embeddings/routes.ts";
import { serveFiles } from "./files/routes.ts";
import { serveImages } from "./images/routes.ts";
import { serveMessages } from "./messages/routes.ts";
import { serveModerations } from "./moderations/routes.ts";
import { serveRerank } from "./rerank/routes.ts";
import { serveResponses } from "./responses/routes.ts";

/** The APIs of other vendors, on top of the core's. */
export function dialects(fileBatches: FileBatchApi): RouteGroup[] {
  const openai = { tag: "Chat", style: "openai" } as const;
  const files = { tag: "Files", style: "openai" } as const;
  return [
    routeGroup("/completions", openai, ({ app }, deps) => serveCompletions(app, deps)),
    routeGroup("/messages", { tag: "Chat", style: "anthropic" }, ({ app }, deps) => serveMessages(app, deps)),
    routeGroup("/responses", openai, ({ app }, deps) => serveResponses(app, deps)),
    embeddingRoutes,
    routeGroup("/rerank", openai, ({ app }, deps) => serveRerank(app, deps)),
    routeGroup("/moderations", openai, ({ app }, deps) => serveModerations(app, deps)),
    routeGroup("/files", files, ({ app }, deps) => serveFiles(app, deps)),
    routeGroup("/batches", files, ({ app }, deps) => serveFileBatches(app, deps, fileBatches)),
    routeGroup("/images", openai, ({ app }, deps) => serveImages(app, deps)),
    routeGroup("/audio", openai, ({ app }, deps) => {
      serveSpeech(app, deps);
      serveTranscriptions(app, deps);
    }),
  ];
}
