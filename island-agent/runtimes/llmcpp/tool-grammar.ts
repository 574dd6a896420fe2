import type { Llama, LlamaGrammar } from "node-llama-cpp";
import { callSchemaOf, type ToolUse } from "../../../shared/chat-tools.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { UnsupportedSchema } from "../../../shared/grammar-schema.ts";
import { CALL_BEGIN, CALL_END } from "./tool-text.ts";

/** `callSchemaOf` builds only what this type allows, which TypeScript cannot see. */
type GrammarSchema = Parameters<Llama["createGrammarForJsonSchema"]>[0];

/** What the library puts around the grammar of a schema. */
const ROOT = "root ::= ";
const ROOT_END = String.raw` "\n\n\n\n" [\n]*`;

/**
 * The grammar of an answer that may call tools: text, and after it calls, each `<tool_call>`, its JSON, `</tool_call>`; only calls if one is
 * required. Text has no mark that begins a call.
 * @throws {JobFailure} `invalid_input` for a schema that a grammar cannot express.
 */
export async function toolGrammarFor(llama: Llama, { tools, isRequired, maxCalls }: ToolUse): Promise<LlamaGrammar> {
  try {
    const json = await llama.createGrammarForJsonSchema(callSchemaOf(tools) as GrammarSchema);
    const [root = "", ...rules] = json.grammar.split("\n");
    if (!root.startsWith(ROOT) || !root.endsWith(ROOT_END))
      throw new Error("node-llama-cpp's grammars are not as expected");
    const more = maxCalls === 1 ? "" : ` ( "\\n" tool-call ){0,${maxCalls - 1}}`;
    return await llama.createGrammar({
      grammar: [
        ROOT + (isRequired ? "tool-calls" : "plain* tool-calls?"),
        `tool-calls ::= tool-call${more}`,
        `tool-call ::= ${quoted(`${CALL_BEGIN}\n`)} call ${quoted(`\n${CALL_END}`)}`,
        `call ::= ${root.slice(ROOT.length, -ROOT_END.length)}`,
        ...plainRules(),
        ...rules,
      ].join("\n"),
    });
  } catch (cause) {
    if (cause instanceof UnsupportedSchema) throw new JobFailure("invalid_input", cause.message);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new JobFailure("invalid_input", `tools: they cannot be turned into a grammar: ${why}`, { cause });
  }
}

/** Text that never has {@link CALL_BEGIN}: after each of its beginnings comes something else than the next character of it. */
function plainRules(): string[] {
  const [first = "", ...rest] = CALL_BEGIN;
  const rules = rest.map((next, index) => {
    const isLast = index === rest.length - 1;
    const on = isLast ? "" : ` | "${next}" begun-${index + 2}`;
    return `begun-${index + 1} ::= [^${next}${first}] | "${first}" begun-1${on}`;
  });
  return [`plain ::= [^${first}] | "${first}" begun-1`, ...rules];
}

function quoted(text: string): string {
  return JSON.stringify(text);
}
