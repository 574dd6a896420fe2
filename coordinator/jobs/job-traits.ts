import {
  BASE_OUTPUT_TOKENS,
  chatInputSchema,
  type ChatMessage,
  chatRequestOf,
  type ChatRequest,
  type ResponseFormat,
} from "../../shared/chat-input.ts";
import type { ToolUse } from "../../shared/chat-tools.ts";
import { cargoFeaturesOf } from "../../shared/features/cargo-features.ts";
import { chatFeaturesOf } from "../../shared/features/features.ts";
import { KIB, MIB } from "../../shared/format-bytes.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";
import { TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { fileReferencesOf } from "../catalog/file-references.ts";
import type { JobInput } from "../store/jobs/job-store.ts";

/** What a job's input says about its price, its output and its retries. */
export interface JobTraits {
  /** Most tokens that the client asked for; null for a Cargo that is not a chat. */
  readonly maxTokens: number | null;
  /** Most output of all attempts, in bytes. */
  readonly maxOutputBytes: number;
  /** Another Island can continue after the text that was delivered. */
  readonly canContinue: boolean;
  /** Bytes of what the client wrote: a token has at least one. */
  readonly promptBytes: number;
  /** Tokens that the prompt can have at most: one for each byte, and what a chat template adds. */
  readonly maxPromptTokens: number;
  /** What the text of an answer must be. */
  readonly responseFormat: ResponseFormat;
  /** Bytes of the longest stop sequence, which is generated and not delivered. */
  readonly stopBytes: number;
  /** Null: the answer has no call of a tool. */
  readonly toolUse: ToolUse | null;
  /** How many of the likeliest tokens are told with each token; null: no probabilities are. */
  readonly topLogprobs: number | null;
  /** The model thinks before it answers, and its thoughts are told. */
  readonly canThink: boolean;
  /** What its Island must be able to do, sorted. */
  readonly features: readonly string[];
  /** What the schema of the answer costs beside the prompt, in tokens. */
  readonly formatTokens: number;
}

const NO_FEATURES: readonly string[] = [];
/** What tells a model how to call tools. */
const TOOLS_PROMPT_BYTES = 1_024;
const MAX_BYTES_PER_TOKEN = KIB;
/** With text of usual length; see `token-probability.ts`. */
const BYTES_PER_PROBABILITY = 160;
/** Four bytes in base64, as an item of the feed and as the output. */
const MAX_BYTES_PER_PIXEL = 12;
/** What templates add to a prompt: a system text of their own, and marks around each message. */
const TEMPLATE_TOKENS = 512;
const TEMPLATE_TOKENS_PER_MESSAGE = 64;
/** Of JSON. A schema is no part of the prompt, but is compiled like one is read. */
const SCHEMA_BYTES_PER_TOKEN = 4;

/**
 * An answer in JSON, or with tools, cannot continue: a grammar has no way to start in the middle. Nor can thoughts, which prompts lack.
 * @param cargo Undefined when it is gone.
 * @param maxOutputBytes For a job of which neither input nor Cargo says how much it may make.
 */
export function traitsOf(input: JobInput, cargo: CatalogEntry | undefined, maxOutputBytes: number): JobTraits {
  const parsed = cargo?.isChat === true ? chatInputSchema.safeParse(input) : undefined;
  if (parsed === undefined || !parsed.success) {
    const json = JSON.stringify(input);
    const promptBytes = Buffer.byteLength(json);
    const files = cargo === undefined ? [] : fileReferencesOf(cargo.inputSchema, input, json);
    return {
      maxTokens: null,
      maxOutputBytes: cargo?.maxOutputBytes ?? Math.min(maxOutputBytes, imageBytes(input, cargo)),
      canContinue: false,
      promptBytes,
      maxPromptTokens: promptBytes + TEMPLATE_TOKENS,
      responseFormat: { type: "text" },
      stopBytes: 0,
      toolUse: null,
      topLogprobs: null,
      canThink: false,
      features:
        cargo === undefined
          ? NO_FEATURES
          : [...cargoFeaturesOf(cargo, input), ...(files.length === 0 ? [] : [FILES_FEATURE])].toSorted(),
      formatTokens: 0,
    };
  }
  const request = chatRequestOf(parsed.data);
  const canThink = cargo?.reasoning === true && !request.isRaw;
  const { messages } = request;
  const promptBytes = messages.reduce(
    (sum, message) => sum + bytesOf(message),
    bytesOfTools(request, cargo?.tools === "template"),
  );
  return {
    maxTokens: request.maxTokens,
    maxOutputBytes: chatBytes(request.maxTokens, maxOutputBytes) + probabilityBytes(request),
    canContinue: request.responseFormat.type === "text" && request.toolUse === null && !canThink,
    promptBytes,
    maxPromptTokens: promptBytes + TEMPLATE_TOKENS + TEMPLATE_TOKENS_PER_MESSAGE * messages.length,
    responseFormat: request.responseFormat,
    stopBytes: Math.max(0, ...request.stop.map((stop) => Buffer.byteLength(stop))),
    toolUse: request.toolUse,
    topLogprobs: request.topLogprobs,
    canThink,
    features: [...(cargo === undefined ? [] : cargoFeaturesOf(cargo, {})), ...chatFeaturesOf(parsed.data)].toSorted(),
    formatTokens: formatTokensOf(request),
  };
}

/** With the calls of tools in it, which are written into the prompt. */
function bytesOf({ content, tool_calls: calls }: ChatMessage): number {
  return Buffer.byteLength(content) + (calls === undefined ? 0 : Buffer.byteLength(JSON.stringify(calls)));
}

/** Templates may write each tool with spaces and line breaks. */
function bytesOfTools({ toolUse }: ChatRequest, isByTemplate: boolean): number {
  if (toolUse === null) return 0;
  const bytes = Buffer.byteLength(
    isByTemplate ? JSON.stringify(toolUse.tools, null, 4) : JSON.stringify(toolUse.tools),
  );
  return bytes + TOOLS_PROMPT_BYTES;
}

/** Infinity for a job that makes no image, or leaves its size to the Cargo. */
function imageBytes({ width, height }: JobInput, cargo: CatalogEntry | undefined): number {
  const isImage = cargo?.runtimeType === "diffusers" || cargo?.onnxTaskType === TEXT_TO_IMAGE;
  if (!isImage || typeof width !== "number" || typeof height !== "number") return Infinity;
  return MIB + width * height * MAX_BYTES_PER_PIXEL;
}

/** Long answers have less for each token than short ones: they have no more than other jobs. */
function chatBytes(tokens: number, maxOutputBytes: number): number {
  const base = (BASE_OUTPUT_TOKENS + 1) * MAX_BYTES_PER_TOKEN;
  return Math.min((tokens + 1) * MAX_BYTES_PER_TOKEN, Math.max(base, maxOutputBytes));
}

function probabilityBytes({ topLogprobs, maxTokens }: ChatRequest): number {
  return topLogprobs === null ? 0 : (maxTokens + 1) * (topLogprobs + 1) * BYTES_PER_PROBABILITY;
}

function formatTokensOf({ responseFormat }: ChatRequest): number {
  if (responseFormat.type !== "json_schema") return 0;
  return Math.ceil(Buffer.byteLength(JSON.stringify(responseFormat.json_schema.schema)) / SCHEMA_BYTES_PER_TOKEN);
}
