import type { z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { assistantMessageOf } from "../../jobs/tool-calls.ts";
import {
  awaitChat,
  type AwaitedChat,
  type ChatSubmission,
  doneOf,
  runChat,
  openChat,
} from "../streaming/awaited-chat.ts";
import {
  type JobRunDeps,
  cancelAbandoned,
  type ClientCall,
  type RequestContext,
  requestContextOf,
} from "../streaming/request-context.ts";
import { addUsage, chatChunks, chatUsage, completionHeadOf, errorLine, NO_USAGE } from "../streaming/chat-encoder.ts";
import {
  chatBodySchema,
  chatEventSchema,
  chatFieldOf,
  completionSchema,
  jobInputsOf,
  presentLogprobs,
} from "../schemas/chat-schemas.ts";
import { jsonOrEvents } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";
import type { HttpDeps } from "../http-deps.ts";
import { type FeedEncoder, streamFeed } from "../streaming/sse.ts";

export const chatRoutes = routeGroup("/chat", { tag: "Chat", style: "openai" }, (routes, deps) => {
  routes.post("/completions", {
    id: "createChatCompletion",
    is: "Create a chat completion",
    about:
      "A chat runs as a job, whose id is the completion's id. If the client disconnects, the job is cancelled, and the tokens read and delivered are charged. `Idempotency-Key` has no effect. With `n`, each choice is a job; they run one after the other, even in a stream, and the completion's id is the first job's.",
    access: "write",
    isCompatible: true,
    body: chatBodySchema,
    mayHaveImages: true,
    responses: {
      200: jsonOrEvents(
        completionSchema,
        chatEventSchema,
        "The completion; with `stream`, its chunks as Server-Sent Events",
      ),
    },
    fails: [402, 404, 409],
  })(async (call) => {
    const { body } = call;
    if (body.stream !== true) return completeChat(deps, requestContextOf(call), body);
    const submissions = submissionsOf(body);
    const [submission] = submissions;
    if (submission === undefined) throw new Error("A chat must have at least one choice");
    const first = await awaitChat(deps, call, { ...submission, isStreamed: true });
    if (first === null) return null;
    const includeUsage = body.stream_options?.include_usage === true || body.usage?.include === true;
    const head = { ...completionHeadOf(first.job.record), includeUsage, usage: { ...NO_USAGE } };
    const encoderOf = (index: number) => chatChunks({ ...head, index, isLast: index === submissions.length - 1 });
    return streamChats(deps, call, first, submissions, encoderOf);
  });
});

function submissionsOf(body: z.output<typeof chatBodySchema>): ChatSubmission[] {
  const fieldOf = (path: string): string => chatFieldOf(body, path);
  return jobInputsOf(body).map((input) => ({ model: body.model, input, fieldOf }));
}

export async function completeChat(deps: JobRunDeps, client: RequestContext, body: z.output<typeof chatBodySchema>) {
  const chats: AwaitedChat[] = [];
  for (const submission of submissionsOf(body)) {
    // The chats run one after the other: an account may have few unfinished jobs.
    // oxlint-disable-next-line no-await-in-loop
    const chat = await runChat(deps, client, submission);
    if (chat === null) return null;
    chats.push(chat);
  }
  return completionOf(chats);
}

/** Combines the chats of one request into a completion. @throws unless all of them ended with `done`. */
function completionOf(chats: readonly AwaitedChat[]): z.infer<typeof completionSchema> {
  const [first] = chats;
  if (first === undefined) throw new Error("A chat must have at least one choice");
  const { jobId: id, createdS: created, model } = completionHeadOf(first.job.record);
  const usage = { ...NO_USAGE };
  const choices = chats.map((chat, index) => {
    const { feed } = chat;
    const ending = doneOf(chat);
    addUsage(usage, ending);
    for (const item of feed.items) if (item.type === "reasoning") usage.reasoningTokens += item.count;
    const logprobs = presentLogprobs(feed.items);
    return { index, message: assistantMessageOf(feed), logprobs, finish_reason: ending.finishReason };
  });
  return { id, object: "chat.completion", created, model, choices, usage: chatUsage(usage) };
}

/**
 * Streams several chats on one connection, one after the other. The first chat that fails ends the stream, and later
 * ones are not submitted.
 */
function streamChats(
  deps: HttpDeps,
  client: ClientCall,
  first: AwaitedChat,
  submissions: readonly ChatSubmission[],
  encoderOf: (index: number) => FeedEncoder,
): Response {
  const { c, identity } = client;
  const { outgoing: response } = c.env;
  const relay = ({ job, feed }: AwaitedChat, index: number): Response => {
    const next = submissions[index + 1];
    return streamFeed(deps, {
      response,
      identity,
      feed,
      encoder: encoderOf(index),
      onCut: () => cancelAbandoned(job, deps.log),
      isContinued: index > 0,
      onDone: next && (() => void startNext(next, index + 1)),
    });
  };
  const startNext = async (submission: ChatSubmission, index: number): Promise<void> => {
    try {
      const chat = await openChat(deps, client, submission);
      if (chat !== null) relay(chat, index);
    } catch (error) {
      const isExpected = error instanceof ServiceError;
      if (!isExpected) deps.log.error({ err: error }, "Could not start the next choice of a streamed chat");
      const [code, message] = isExpected
        ? [error.code, error.message]
        : ["internal", "The next choice could not be started. Try again"];
      response.end(errorLine({ code, message, retryable: !isExpected }));
    }
  };
  return relay(first, 0);
}
