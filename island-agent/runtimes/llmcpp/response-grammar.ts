import type { Llama, LlamaGrammar } from "node-llama-cpp";
import type { ResponseFormat } from "../../../shared/chat-input.ts";
import { JobFailure } from "../../../shared/errors.ts";
import { grammarSchemaOf, UnsupportedSchema } from "../../../shared/grammar-schema.ts";

/** `grammarSchemaOf` builds only what this type allows, which TypeScript cannot see. */
type GrammarSchema = Parameters<Llama["createGrammarForJsonSchema"]>[0];

/**
 * The grammar that enforces the answer's format; undefined for plain text.
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
        const schema = grammarSchemaOf(format.json_schema.schema, format.json_schema.strict === true);
        return await llama.createGrammarForJsonSchema(schema as GrammarSchema);
      } catch (cause) {
        if (cause instanceof UnsupportedSchema) throw new JobFailure("invalid_input", cause.message);
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new JobFailure(
          "invalid_input",
          `response_format.json_schema: it cannot be turned into a grammar: ${why}`,
          {
            cause,
          },
        );
      }
    }
    default:
      return format satisfies never;
  }
}
