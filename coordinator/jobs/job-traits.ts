import { chatInputSchema, chatRequestOf, type ChatRequest } from "../../shared/chat-input.ts";
import type { JobInput } from "../store/job-store.ts";

/** What a job's input says about its price, its output and its retries. */
export interface JobTraits {
  /** Most tokens that the client asked for; null for a Cargo that is not a chat. */
  readonly maxTokens: number | null;
  /** Another Island can continue after the text that was delivered. */
  readonly canContinue: boolean;
  /** Tokens that the prompt can have at most: one for each byte, and what a chat template adds. */
  readonly maxPromptTokens: number;
  /** Bytes of the longest stop sequence, which is generated and not delivered. */
  readonly stopBytes: number;
  /** What the schema of the answer costs beside the prompt, in tokens. */
  readonly formatTokens: number;
}

/** What templates add to a prompt: a system text of their own, and marks around each message. */
const TEMPLATE_TOKENS = 512;
const TEMPLATE_TOKENS_PER_MESSAGE = 64;
/** Of JSON. A schema is no part of the prompt, but is compiled like one is read. */
const SCHEMA_BYTES_PER_TOKEN = 4;

/** An answer in JSON cannot continue: a grammar has no way to start in the middle. */
export function traitsOf(input: JobInput, isChat: boolean): JobTraits {
  const parsed = isChat ? chatInputSchema.safeParse(input) : undefined;
  if (parsed === undefined || !parsed.success) {
    const maxPromptTokens = Buffer.byteLength(JSON.stringify(input)) + TEMPLATE_TOKENS;
    return { maxTokens: null, canContinue: false, maxPromptTokens, stopBytes: 0, formatTokens: 0 };
  }
  const request = chatRequestOf(parsed.data);
  return {
    maxTokens: request.maxTokens,
    canContinue: request.responseFormat.type === "text",
    maxPromptTokens: request.messages.reduce(
      (sum, { content }) => sum + Buffer.byteLength(content) + TEMPLATE_TOKENS_PER_MESSAGE,
      TEMPLATE_TOKENS,
    ),
    stopBytes: Math.max(0, ...request.stop.map((stop) => Buffer.byteLength(stop))),
    formatTokens: formatTokensOf(request),
  };
}

function formatTokensOf({ responseFormat }: ChatRequest): number {
  if (responseFormat.type !== "json_schema") return 0;
  return Math.ceil(Buffer.byteLength(JSON.stringify(responseFormat.json_schema.schema)) / SCHEMA_BYTES_PER_TOKEN);
}
