import { LargeJson } from "../../store/jobs/large-json.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import type { FeedEnding } from "../../jobs/feed.ts";
import { formatPosition, type FeedPosition } from "../../jobs/feed-position.ts";
import { presentUsage } from "../schemas/wire-units.ts";
import { jsonParts } from "../middleware/json-response.ts";
import type { EncodedEvent, FeedEncoder } from "./sse.ts";

/** Encodes the events of GET /jobs/:id/stream. Source: spec §6, decision 0005. */
export const jobEvents: FeedEncoder = {
  prologue: "",
  item(item, { position }) {
    switch (item.type) {
      case "token":
        return frame("token", position, `{"type":"token","content":${JSON.stringify(item.content)}}`);
      case "reasoning":
        return frame("reasoning", position, `{"type":"reasoning","content":${JSON.stringify(item.content)}}`);
      case "tool_call": {
        const { index, id, name } = item;
        return frame(
          "tool_call",
          position,
          JSON.stringify({ type: "tool_call", index, id, name, arguments: item.arguments }),
        );
      }
      case "progress":
        return frame("progress", position, `{"type":"progress","step":${item.step},"total":${item.total}}`);
      case "image": {
        const { data, format } = item;
        return frame("image", position, eventJson({ type: "image", data, format }, data));
      }
      case "status":
        return frame("status", position, `{"type":"status","state":${JSON.stringify(item.state)}}`);
      default:
        return item satisfies never;
    }
  },
  waiting({ state, waiting }, position) {
    const { message, percent } = waiting ?? {};
    // The event repeats the id of the last event, so that a client that reconnects keeps its position.
    const id = formatPosition(position);
    return `id: ${id}\nevent: status\ndata: ${JSON.stringify({ type: "status", state, message, percent })}\n\n`;
  },
  ending(ending, position) {
    const output = ending.type === "done" ? ending.output : undefined;
    return frame(ending.type, position, eventJson(endingPayload(ending), output));
  },
};

/** Encodes the payload of an event. @param value The part of the payload that may be large. */
function eventJson(payload: unknown, value: unknown): EncodedEvent {
  return value instanceof LargeJson ? jsonParts(payload) : JSON.stringify(payload);
}

/** Encodes an event. JSON text has no line break, so one `data:` line is enough. */
function frame(name: (FeedItem | FeedEnding)["type"], position: FeedPosition, json: EncodedEvent): EncodedEvent {
  const head = `id: ${formatPosition(position)}\nevent: ${name}\ndata: `;
  return typeof json === "string" ? `${head}${json}\n\n` : [head, ...json, "\n\n"];
}

function endingPayload(ending: FeedEnding): unknown {
  if (ending.type === "error") {
    return { type: "error", error: ending.message, code: ending.code, retryable: ending.retryable };
  }
  const { usage, creditsUsedMicro, finishReason, output } = ending;
  return {
    type: "done",
    usage: presentUsage(usage, creditsUsedMicro),
    finish_reason: finishReason,
    ...(output === undefined ? {} : { output }),
  };
}
