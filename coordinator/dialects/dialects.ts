import type { RouteGroup } from "../http/route-group.ts";
import { completeChat } from "../http/routes/chat.ts";
import { chatBodySchema } from "../http/schemas/chat-schemas.ts";
import { speechRoutes } from "./audio/speech.ts";
import { transcriptionRoutes } from "./audio/transcriptions.ts";
import { type Batches, lineEndpoint, type LineEndpoint } from "./batches/open-batches.ts";
import { batchRoutes } from "./batches/routes.ts";
import { answerCompletion, completionRoutes } from "./completions/routes.ts";
import { textCompletionBodySchema } from "./completions/schemas.ts";
import { answerEmbeddings, embeddingRoutes } from "./embeddings/routes.ts";
import { embeddingsBodySchema } from "./embeddings/schemas.ts";
import { fileRoutes } from "./files/routes.ts";
import { imageRoutes } from "./images/routes.ts";
import { messageRoutes } from "./messages/routes.ts";
import { modelRoutes } from "./models/routes.ts";
import { answerModeration, moderationRoutes } from "./moderations/routes.ts";
import { moderationBodySchema } from "./moderations/schemas.ts";
import { answerReranking, rerankRoutes } from "./rerank/routes.ts";
import { rerankBodySchema } from "./rerank/schemas.ts";
import { answerResponse, responseRoutes } from "./responses/routes.ts";
import { responseBodySchema } from "./responses/schemas.ts";

/** Returns the APIs of other vendors, which use the core's services. */
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
  ["/v1/completions", lineEndpoint(textCompletionBodySchema, answerCompletion)],
  ["/v1/embeddings", lineEndpoint(embeddingsBodySchema, answerEmbeddings)],
  ["/v1/moderations", lineEndpoint(moderationBodySchema, answerModeration)],
  ["/v1/responses", lineEndpoint(responseBodySchema, answerResponse)],
  ["/v1/rerank", lineEndpoint(rerankBodySchema, answerReranking)],
]);
