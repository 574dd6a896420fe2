import { ServiceError } from "../../../shared/errors.ts";
import type { HttpDeps } from "../http-deps.ts";
import { openChat, type AwaitedChat, type ChatOrder } from "./awaited-chat.ts";
import { errorLine } from "./chat-encoder.ts";
import { type FeedEncoder, streamFeed } from "./sse.ts";
import { cancelAbandoned, type ChatClient } from "./waiting-client.ts";

/**
 * Streams several chats on one connection, one after the other: an account's unfinished jobs are few. The first one that fails ends the
 * stream; those after it are not submitted.
 * @param orders Of all of them; the first one's chat is there.
 * @param encoderOf Of the chat with this index.
 */
export function streamChats(
  deps: Pick<HttpDeps, "accounts" | "catalog" | "clock" | "jobs" | "log" | "options">,
  client: ChatClient,
  first: AwaitedChat,
  orders: readonly ChatOrder[],
  encoderOf: (index: number) => FeedEncoder,
): Response {
  const { c, identity } = client;
  const { outgoing: response } = c.env;
  const relay = ({ job, feed }: AwaitedChat, index: number): Response => {
    const next = orders[index + 1];
    return streamFeed(deps, {
      response,
      identity,
      feed,
      encoder: encoderOf(index),
      onCut: () => cancelAbandoned(job, deps.log),
      isContinued: index > 0,
      ...(next === undefined ? {} : { onDone: () => void goOn(next, index + 1) }),
    });
  };
  const goOn = async (order: ChatOrder, index: number): Promise<void> => {
    try {
      const chat = await openChat(deps, client, order);
      if (chat !== null) relay(chat, index);
    } catch (error) {
      const isExpected = error instanceof ServiceError;
      if (!isExpected) deps.log.error({ err: error }, "the next answer of a streamed chat could not begin");
      const [code, message] = isExpected
        ? [error.code, error.message]
        : ["internal", "The next answer could not begin"];
      response.end(errorLine({ code, message, retryable: !isExpected }));
    }
  };
  return relay(first, 0);
}
