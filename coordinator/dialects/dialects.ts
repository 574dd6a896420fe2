import type { RouteGroup } from "../http/route-group.ts";
import { speechRoutes } from "./audio/speech.ts";
import { transcriptionRoutes } from "./audio/transcriptions.ts";
import type { FileBatchApi } from "./batches/file-batch-service.ts";
import { batchRoutes } from "./batches/routes.ts";
import { completionRoutes } from "./completions/routes.ts";
import { embeddingRoutes } from "./embeddings/routes.ts";
import { fileRoutes } from "./files/routes.ts";
import { imageRoutes } from "./images/routes.ts";
import { messageRoutes } from "./messages/routes.ts";
import { moderationRoutes } from "./moderations/routes.ts";
import { rerankRoutes } from "./rerank/routes.ts";
import { responseRoutes } from "./responses/routes.ts";

/** The APIs of other vendors, on top of the core's. */
export const dialects = (fileBatches: FileBatchApi): RouteGroup[] => [
  completionRoutes,
  messageRoutes,
  responseRoutes,
  embeddingRoutes,
  rerankRoutes,
  moderationRoutes,
  fileRoutes,
  batchRoutes(fileBatches),
  imageRoutes,
  speechRoutes,
  transcriptionRoutes,
];
