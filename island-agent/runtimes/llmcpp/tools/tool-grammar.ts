import { createHash } from "node:crypto";
import type { Llama, LlamaGrammar } from "node-llama-cpp";
import { callSchemaOf } from "../../../../shared/grammar/call-schema.ts";
import type { ToolUse } from "../../../../shared/chat-tools.ts";
import type { ResponseFormat } from "../../../../shared/chat-input.ts";
import { JobFailure } from "../../../../shared/errors.ts";
import { UnsupportedSchema } from "../../../../shared/grammar/grammar-schema.ts";
import { recentMap } from "../../../../shared/recent-map.ts";
import { writeRules } from "../grammar/gbnf.ts";
import { schemaGrammar } from "../grammar/schema-grammar.ts";
import { grammarFor } from "../response-grammar.ts";
import { CALL_BEGIN, CALL_END } from "./tool-text.ts";

/** Maximum number of compiled grammars in memory. The largest take about 10 MB each. */
const MAX_KEPT = 8;

/** Compiles and caches grammars for tools: coding agents send the same tools with every request. */
export class ToolGrammars {
  readonly #llama: Llama;
  readonly #kept = recentMap<LlamaGrammar>(MAX_KEPT);

  constructor(llama: Llama) {
    this.#llama = llama;
  }

  /** @throws {JobFailure} `invalid_input` for a schema that a grammar cannot express. */
  async get(use: ToolUse, format: ResponseFormat): Promise<LlamaGrammar> {
    const key = createHash("sha256")
      .update(JSON.stringify([use, format]))
      .digest("base64");
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const grammar = await compile(this.#llama, use, format);
    this.#kept.set(key, grammar);
    return grammar;
  }
}

/**
 * Compiles the grammar of a completion that may call tools: text, followed by calls, each `<tool_call>`, its JSON,
 * `</tool_call>`. If a call is required there is no text. Text cannot contain the mark that starts a call. A JSON
 * completion has either the JSON or calls.
 */
async function compile(
  llama: Llama,
  { tools, isRequired, maxCalls }: ToolUse,
  format: ResponseFormat,
): Promise<LlamaGrammar> {
  const textGrammar = isRequired ? undefined : await grammarFor(llama, format);
  try {
    const rules = [...schemaGrammar(callSchemaOf(tools))].map(
      ([name, grammar]) => [name === "root" ? "call" : name, grammar] as const,
    );
    const more = maxCalls === 1 ? "" : ` ( "\\n" tool-call ){0,${maxCalls - 1}}`;
    return await llama.createGrammar({
      grammar: [
        `root ::= ${rootOf(isRequired, textGrammar)}`,
        `tool-calls ::= tool-call${more}`,
        `tool-call ::= ${quoteLiteral(`${CALL_BEGIN}\n`)} call ${quoteLiteral(`\n${CALL_END}`)}`,
        writeRules(new Map(rules)),
        ...plainRules(),
        ...(textGrammar === undefined ? [] : [prefixRules(textGrammar.grammar)]),
      ].join("\n"),
      trimWhitespaceSuffix: textGrammar !== undefined,
    });
  } catch (cause) {
    if (cause instanceof UnsupportedSchema) throw new JobFailure("invalid_input", cause.message);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("invalid_input", `tools: cannot be converted to a grammar: ${why}`, { cause });
  }
}

function rootOf(isRequired: boolean, textGrammar: LlamaGrammar | undefined): string {
  if (isRequired) return "tool-calls";
  return textGrammar === undefined ? "plain* tool-calls?" : `tool-calls | ${PREFIX}root`;
}

const PREFIX = "answer-";

/** Prefixes rule names, which could conflict with those of calls. Texts and character classes stay unchanged. */
function prefixRules(grammar: string): string {
  const parts = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|#.*|[a-zA-Z][\w-]*/g;
  return grammar.replaceAll(parts, (part) => (/^[a-zA-Z]/.test(part) ? PREFIX + part : part));
}

/** Returns rules for text without {@link CALL_BEGIN}: each of its beginnings is followed by a different character. */
function plainRules(): string[] {
  const [first = "", ...rest] = CALL_BEGIN;
  const rules = rest.map((next, index) => {
    const isLast = index === rest.length - 1;
    const on = isLast ? "" : ` | "${next}" begun-${index + 2}`;
    return `begun-${index + 1} ::= [^${next}${first}] | "${first}" begun-1${on}`;
  });
  return [`plain ::= [^${first}] | "${first}" begun-1`, ...rules];
}

function quoteLiteral(text: string): string {
  return JSON.stringify(text);
}
