import type { Llama, LlamaGrammar } from "node-llama-cpp";
import type { ResponseFormat } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { grammarSchemaOf, UnsupportedSchema } from "../../../shared/grammar/grammar-schema.ts";
import { writeRules } from "./grammar/gbnf.ts";
import { schemaGrammar } from "./grammar/schema-grammar.ts";

/**
 * Returns the grammar that enforces the response format; undefined for plain text.
 * @throws {JobFailure} `invalid_input` for a schema that a grammar cannot express.
 */
export async function grammarFor(llama: Llama, format: ResponseFormat): Promise<LlamaGrammar | undefined> {
  switch (format.type) {
    case "text":
      return undefined;
    case "json_object":
      return llama.getGrammarFor("json");
    case "json_schema": {
      try {
        const rules = schemaGrammar(grammarSchemaOf(format.json_schema.schema));
        return await llama.createGrammar({ grammar: writeRules(rules), trimWhitespaceSuffix: true });
      } catch (cause) {
        if (cause instanceof UnsupportedSchema) throw new JobFailure("invalid_input", cause.message);
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new JobFailure("invalid_input", `response_format.json_schema: cannot be converted to a grammar: ${why}`, {
          cause,
        });
      }
    }
    default:
      return format satisfies never;
  }
}
