import { MAX_IMAGE_TOKENS } from "../../shared/chat-images.ts";
import {
  BASE_OUTPUT_TOKENS,
  type ChatMessage,
  chatRequestOf,
  type ChatRequest,
  parseChat,
  type ResponseFormat,
} from "../../shared/chat-input.ts";
import type { ToolUse } from "../../shared/chat-tools.ts";
import { MAX_READ_POSITIONS, MAX_READ_TOP } from "../../shared/chat-reading.ts";
import { cargoFeaturesOf } from "../../shared/features/cargo-features.ts";
import { chatFeaturesOf } from "../../shared/features/features.ts";
import { KIB, MIB } from "../../shared/format-bytes.ts";
import { FILES_FEATURE } from "../../shared/job-files.ts";
import { TEXT_TO_IMAGE } from "../../shared/onnx-task.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { fileReferencesOf } from "../catalog/file-references.ts";
import type { JobSize } from "../scheduler/events.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import { NO_PARTS, promptPartsOf, tokensIn } from "./prompt-parts.ts";

/** Facts from a job's input that determine its price, its output and its retries. */
export interface JobTraits {
  /** Maximum tokens that the client requested; null for a Cargo that is not a chat. */
  readonly maxTokens: number | null;
  /** Maximum bytes of output of all attempts together. */
  readonly maxOutputBytes: number;
  /** True if the Island reads an answer instead of generating one. */
  readonly isReading: boolean;
  /** True if another Island can continue after the delivered text. */
  readonly canContinue: boolean;
  /** Bytes of the client's prompt, and the tokens that its images may have. A token of text has at least one byte. */
  readonly promptBytes: number;
  /** Maximum tokens of the prompt: one for each byte, plus the chat template. */
  readonly maxPromptTokens: number;
  /** Required format of the completion's text. */
  readonly responseFormat: ResponseFormat;
  /** Bytes of the longest stop sequence, which is generated but not delivered. */
  readonly stopBytes: number;
  /** The tools that the completion may call; null if it may call none. */
  readonly toolUse: ToolUse | null;
  /** Number of top tokens in the log probabilities of each token; null if none were requested. */
  readonly topLogprobs: number | null;
  /** True if the model reasons before its completion, and its reasoning is delivered. */
  readonly canReason: boolean;
  /** The features that an Island needs, sorted. */
  readonly features: readonly string[];
  /** Tokens that the schema of the completion costs besides the prompt. */
  readonly formatTokens: number;
  /** How much work the job is, for the scheduler. */
  readonly size: JobSize;
}

const NO_FEATURES: readonly string[] = [];
/** Size of the instructions for tool calls in the prompt. */
const TOOLS_PROMPT_BYTES = 1_024;
/** Maximum bytes of output that are counted for each token. */
const MAX_BYTES_PER_TOKEN = KIB;
/** Bytes of a log probability with a text of usual length; see `token-probability.ts`. */
const BYTES_PER_PROBABILITY = 160;
/** Maximum bytes of a reading: each position has probabilities of about 20 bytes. */
const READING_BYTES = (MAX_READ_POSITIONS + 1) * (MAX_READ_TOP + 2) * 32;
/** Maximum bytes of output for each pixel: four bytes in base64, both as an item of the feed and as the output. */
const MAX_BYTES_PER_PIXEL = 12;
/** Tokens that templates add to a prompt: their own system text, and marks around each message. */
const TEMPLATE_TOKENS = 512;
const TEMPLATE_TOKENS_PER_MESSAGE = 64;
/** Bytes of a schema that are charged as one prompt token: compiling a schema costs about as much as reading it. */
const SCHEMA_BYTES_PER_TOKEN = 4;

/**
 * Derives the traits of a job from its input. A completion in JSON, with tools or with reasoning cannot be continued: a
 * grammar cannot start in the middle, and prompts lack reasoning.
 */
export function traitsOf(
  input: JobInput,
  cargo: CatalogEntry | undefined,
  maxOutputBytes: number,
  accountId: string,
): JobTraits {
  const parsed = cargo?.isChat === true ? parseChat(input) : undefined;
  if (parsed === undefined || !parsed.success) {
    const json = JSON.stringify(input);
    const promptBytes = Buffer.byteLength(json);
    const files = cargo === undefined ? [] : fileReferencesOf(cargo.inputSchema, { input, inputJson: json });
    return {
      maxTokens: null,
      maxOutputBytes: cargo?.maxOutputBytes ?? Math.min(maxOutputBytes, imageBytes(input, cargo)),
      isReading: false,
      canContinue: false,
      promptBytes,
      maxPromptTokens: promptBytes + TEMPLATE_TOKENS,
      responseFormat: { type: "text" },
      stopBytes: 0,
      toolUse: null,
      topLogprobs: null,
      canReason: false,
      features:
        cargo === undefined
          ? NO_FEATURES
          : [...cargoFeaturesOf(cargo, input), ...(files.length === 0 ? [] : [FILES_FEATURE])].toSorted(),
      formatTokens: 0,
      size: { input: promptBytes, maxOutput: null, promptParts: NO_PARTS },
    };
  }
  const request = chatRequestOf(parsed.data);
  const { read } = request;
  const canReason = cargo?.reasoning === true && !request.isRaw;
  const { messages } = request;
  const bytes = promptBytesOf(request, cargo);
  const promptBytes = bytes.total;
  return {
    maxTokens: request.maxTokens,
    maxOutputBytes:
      chatBytes(request.maxTokens, maxOutputBytes) + (read === null ? probabilityBytes(request) : READING_BYTES),
    isReading: read !== null,
    canContinue: read === null && request.responseFormat.type === "text" && request.toolUse === null && !canReason,
    promptBytes,
    maxPromptTokens: promptBytes + TEMPLATE_TOKENS + TEMPLATE_TOKENS_PER_MESSAGE * messages.length,
    responseFormat: request.responseFormat,
    stopBytes: Math.max(0, ...request.stop.map((stop) => Buffer.byteLength(stop))),
    toolUse: request.toolUse,
    topLogprobs: request.topLogprobs,
    canReason,
    features: [...(cargo === undefined ? [] : cargoFeaturesOf(cargo, {})), ...chatFeaturesOf(parsed.data)].toSorted(),
    formatTokens: formatTokensOf(request),
    size: {
      input: tokensIn(promptBytes),
      maxOutput: request.maxTokens,
      promptParts: promptPartsOf(request, bytes, `${cargo?.slug ?? ""} ${accountId}`),
    },
  };
}

/** Returns the bytes of a chat's prompt: its tools, each message, and their sum. */
export function promptBytesOf(request: ChatRequest, cargo: Pick<CatalogEntry, "tools"> | undefined) {
  const tools = bytesOfTools(request, cargo?.tools === "template");
  const messages = request.messages.map(bytesOf);
  const read = Buffer.byteLength(request.read?.text ?? "");
  return { tools, messages, total: messages.reduce((sum, each) => sum + each, tools + read) };
}

function bytesOf({ content, parts = [], tool_calls: calls }: ChatMessage): number {
  const images = parts.filter(({ type }) => type === "image_url").length;
  const callBytes = calls === undefined ? 0 : Buffer.byteLength(JSON.stringify(calls));
  return Buffer.byteLength(content) + images * MAX_IMAGE_TOKENS + callBytes;
}

/** Returns the bytes of the tools in the prompt. A template may write each tool with spaces and line breaks. */
function bytesOfTools({ toolUse }: ChatRequest, isByTemplate: boolean): number {
  if (toolUse === null) return 0;
  const bytes = Buffer.byteLength(
    isByTemplate ? JSON.stringify(toolUse.tools, null, 4) : JSON.stringify(toolUse.tools),
  );
  return bytes + TOOLS_PROMPT_BYTES;
}

/** Returns the maximum bytes of an image. Infinity for a job without an image, or if the Cargo chooses the size. */
function imageBytes({ width, height }: JobInput, cargo: CatalogEntry | undefined): number {
  const isImage = cargo?.runtimeType === "diffusers" || cargo?.onnxTaskType === TEXT_TO_IMAGE;
  if (!isImage || typeof width !== "number" || typeof height !== "number") return Infinity;
  return MIB + width * height * MAX_BYTES_PER_PIXEL;
}

/**
 * Returns the maximum bytes of a completion. Long completions have fewer bytes for each token, so that the limit of
 * other jobs applies to them.
 */
function chatBytes(tokens: number, maxOutputBytes: number): number {
  const base = (BASE_OUTPUT_TOKENS + 1) * MAX_BYTES_PER_TOKEN;
  return Math.min((tokens + 1) * MAX_BYTES_PER_TOKEN, Math.max(base, maxOutputBytes));
}

function probabilityBytes({ topLogprobs, maxTokens }: ChatRequest): number {
  return topLogprobs === null ? 0 : (maxTokens + 1) * (topLogprobs + 1) * BYTES_PER_PROBABILITY;
}

export function formatTokensOf({ responseFormat }: ChatRequest): number {
  if (responseFormat.type !== "json_schema") return 0;
  return Math.ceil(Buffer.byteLength(JSON.stringify(responseFormat.json_schema.schema)) / SCHEMA_BYTES_PER_TOKEN);
}
