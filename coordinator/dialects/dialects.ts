import type { RouteGroup } from "../http/route-group.ts";
import { completeChat } from "../http/routes/chat.ts";
import { chatBodySchema } from "../http/schemas/chat-schemas.ts";
import { speechRoutes } from "./audio/speech.ts";
import { transcriptionRoutes } from "./audio/transcriptions.ts";
import { type Batches, lineEndpoint, type LineEndpoint } from "./batches/open-batches.ts";
import { batchRoutes } from "./batches/routes.ts";
import { runCompletion, completionRoutes, textCompletionBodySchema } from "./completions/routes.ts";
import { runEmbeddings, embeddingRoutes, embeddingsBodySchema } from "./embeddings/routes.ts";
import { fileRoutes } from "./files/routes.ts";
import { imageRoutes } from "./images/routes.ts";
import { messageRoutes } from "./messages/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { runModeration, moderationRoutes, moderationBodySchema } from "./moderations/routes.ts";
import { runReranking, rerankRoutes, rerankBodySchema } from "./rerank/routes.ts";
import { runResponse, responseRoutes } from "./responses/routes.ts";
import { responseBodySchema } from "./responses/schemas.ts";

export const dialects = (batches: Batches): RouteGroup[] => [
  completionRoutes,
  messageRoutes,
  responseRoutes,
  embeddingRoutes,
  rerankRoutes,
  moderationRoutes,
  fileRoutes,
  batchRoutes(batches),
  imageRoutes,
  speechRoutes,
  transcriptionRoutes,
  modelRoutes,
];

/** Endpoints that batch lines may call, by their paths in the lines. */
export const lineEndpoints: ReadonlyMap<string, LineEndpoint> = new Map([
  ["/v1/chat/completions", lineEndpoint(chatBodySchema, completeChat)],
  ["/v1/completions", lineEndpoint(textCompletionBodySchema, runCompletion)],
  ["/v1/embeddings", lineEndpoint(embeddingsBodySchema, runEmbeddings)],
  ["/v1/moderations", lineEndpoint(moderationBodySchema, runModeration)],
  ["/v1/responses", lineEndpoint(responseBodySchema, runResponse)],
  ["/v1/rerank", lineEndpoint(rerankBodySchema, runReranking)],
]);
