import { z } from "@hono/zod-openapi";
import type { TokenProbability } from "../../../shared/token-probability.ts";
import type { FeedItem } from "../../store/jobs/job-store.ts";
import { presentEntry } from "../../http/schemas/chat-schemas.ts";
import type { NamespacedFunction } from "./tools.ts";

const probabilityFields = { token: z.string(), bytes: z.array(z.int()), logprob: z.number() };
export const responseLogprobsSchema = z.array(
  z.object({ ...probabilityFields, top_logprobs: z.array(z.object(probabilityFields)) }),
);
export const textPartSchema = z.object({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.unknown()).max(0),
  logprobs: responseLogprobsSchema.describe("Log probabilities; empty unless requested"),
});
export const reasoningPartSchema = z.object({ type: z.literal("reasoning_text"), text: z.string() });
const ITEM_STATES = ["in_progress", "completed", "incomplete"] as const;
type ItemState = (typeof ITEM_STATES)[number];

/** An item of a response's `output`. Source: OpenAI's API. */
export const outputItemSchema = z.discriminatedUnion("type", [
  z.object({
    id: z.string(),
    type: z.literal("reasoning"),
    status: z.enum(ITEM_STATES),
    summary: z.array(z.unknown()).max(0),
    content: z.array(reasoningPartSchema).describe("Reasoning of a Cargo that supports it"),
    encrypted_content: z.string().describe("Opaque text that is not used; `content` has the whole reasoning"),
  }),
  z.object({
    id: z.string(),
    type: z.literal("message"),
    status: z.enum(ITEM_STATES),
    role: z.literal("assistant"),
    content: z.array(textPartSchema),
  }),
  z.object({
    id: z.string(),
    type: z.literal("function_call"),
    status: z.enum(ITEM_STATES),
    call_id: z.string(),
    name: z.string(),
    namespace: z.string().optional().describe("Namespace of the function, if it has one"),
    arguments: z.string().describe("JSON text"),
  }),
]);
export type ResponseItem = z.infer<typeof outputItemSchema>;

/** Consecutive output of one kind, which becomes one item of the response. */
export type OutputRun =
  | { readonly kind: "reasoning"; text: string }
  | { readonly kind: "text"; text: string; readonly logprobs: TokenProbability[] }
  | {
      readonly kind: "call";
      text: string;
      readonly index: number;
      readonly callId: string;
      readonly name: string;
      readonly namespace?: string;
    };

/** Groups the items of a feed into the items of a response, in their order. */
export class OutputRuns {
  readonly runs: OutputRun[] = [];
  reasoningTokens = 0;
  readonly #calls = new Map<number, OutputRun>();
  readonly #functions: readonly NamespacedFunction[];

  /** Creates the runs of a response without output. @param functions functions of namespaces, offered to the model */
  constructor(functions: readonly NamespacedFunction[] = []) {
    this.#functions = functions;
  }

  static of(items: readonly FeedItem[], functions: readonly NamespacedFunction[]): OutputRuns {
    const written = new OutputRuns(functions);
    for (const item of items) written.push(item);
    return written;
  }

  /** Adds a feed item. Returns the run that it was added to; null for an item that is not part of a response. */
  push(item: FeedItem): OutputRun | null {
    const run = this.#runOf(item);
    if (run === null) return null;
    if (item.type === "token") {
      run.text += item.content;
      if (run.kind === "text" && item.logprobs !== undefined) run.logprobs.push(...item.logprobs);
    } else if (item.type === "reasoning") {
      run.text += item.content;
      this.reasoningTokens += item.count;
    } else if (item.type === "tool_call") run.text += item.arguments;
    return run;
  }

  #runOf(item: FeedItem): OutputRun | null {
    const last = this.runs.at(-1);
    if (item.type === "token") {
      return last?.kind === "text" ? last : this.#begin({ kind: "text", text: "", logprobs: [] });
    }
    if (item.type === "reasoning") {
      return last?.kind === "reasoning" ? last : this.#begin({ kind: "reasoning", text: "" });
    }
    if (item.type !== "tool_call") return null;
    const { index, id = "", name = "" } = item;
    let call = this.#calls.get(index);
    if (call === undefined) {
      const { flat_name: _, ...named } = this.#functions.find((each) => each.flat_name === name) ?? { name };
      call = this.#begin({ kind: "call", text: "", index, callId: id, ...named });
      this.#calls.set(index, call);
    }
    return call;
  }

  #begin(run: OutputRun): OutputRun {
    this.runs.push(run);
    return run;
  }
}

export const EMPTY_TEXT: Extract<OutputRun, { kind: "text" }> = { kind: "text", text: "", logprobs: [] };

export function presentRun(jobId: string, index: number, run: OutputRun, status: ItemState): ResponseItem {
  const isBegun = status === "in_progress";
  const id = itemIdOf(jobId, index, run);
  if (run.kind === "reasoning") {
    const content = isBegun ? [] : [reasoningPart(run.text)];
    // The value is not read, but must not be empty: clients send back only reasoning that has it.
    return { id, type: "reasoning", status, summary: [], content, encrypted_content: id };
  }
  if (run.kind === "text") {
    return { id, type: "message", status, role: "assistant", content: isBegun ? [] : [textPart(run)] };
  }
  const { callId, name, namespace, text } = run;
  const named = { name, ...(namespace === undefined ? {} : { namespace }) };
  return { id, type: "function_call", status, call_id: callId, ...named, arguments: isBegun ? "" : text };
}

const PREFIXES = { reasoning: "rs", text: "msg", call: "fc" } as const;

/** Returns the id of an output item. The index makes the ids of several texts and reasoning items unique. */
export function itemIdOf(jobId: string, index: number, run: OutputRun): string {
  const id = jobId.replace(/^job/, PREFIXES[run.kind]);
  if (run.kind === "call") return `${id}_${run.index}`;
  return index === 0 ? id : `${id}_${index}`;
}

export function responseIdOfItem(itemId: string): string | null {
  const [, end] = /^(?:rs|msg|fc)_(\w+?)(?:_\d+)?$/.exec(itemId) ?? [];
  return end === undefined ? null : `resp_${end}`;
}

export function reasoningPart(text: string) {
  return { type: "reasoning_text" as const, text };
}

export function textPart({ text, logprobs }: typeof EMPTY_TEXT) {
  return { type: "output_text" as const, text, annotations: [], logprobs: presentResponseLogprobs(logprobs) };
}

/** Presents log probabilities as {@link presentLogprobs} does, except that unknown bytes are an empty list. */
export function presentResponseLogprobs(entries: readonly TokenProbability[]): z.infer<typeof responseLogprobsSchema> {
  return entries.map((each) => ({ ...entryOf(each), top_logprobs: each.top.map(entryOf) }));
}

function entryOf(entry: Omit<TokenProbability, "top">) {
  const { token, bytes, logprob } = presentEntry(entry);
  return { token, bytes: bytes ?? [], logprob };
}
