import type { ImageToTextPipeline, SummarizationPipeline, TranslationPipeline } from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";
import type { OnnxInput } from "../onnx-input.ts";
import { decodeImage } from "../media/image-codec.ts";
import type { TaskHandler } from "./task-handler.ts";
import { countPromptTokens, type TextPipeline } from "./count-prompt-tokens.ts";
import { TokenCounter } from "./token-counter.ts";

/** The tasks summarization, translation and image-to-text, which generate text up to a limit in the input. */

export const summarization: TaskHandler<"summarization", SummarizationPipeline> = async (pipe, input) => {
  const promptTokens = countPromptTokens(pipe, "text", prefixOf(pipe, "summarization") + input.text);
  const count = new TokenCounter(pipe.model, input.max_length);
  const [first] = await pipe(input.text, { max_new_tokens: input.max_length, streamer: count.streamer });
  return { output: { summary: textOf(first, "summary_text") }, promptTokens, ...endOf(count) };
};

export const translation: TaskHandler<"translation", TranslationPipeline> = async (pipe, input) => {
  const promptTokens = countPromptTokens(pipe, "text", prefixOf(pipe, "translation") + input.text);
  const count = new TokenCounter(pipe.model, input.max_length);
  const languages = languagesFor(pipe, input);
  const [first] = await pipe(input.text, { max_new_tokens: input.max_length, streamer: count.streamer, ...languages });
  return { output: { translation: textOf(first, "translation_text") }, promptTokens, ...endOf(count) };
};

export const imageToText: TaskHandler<"image-to-text", ImageToTextPipeline> = async (pipe, input) => {
  const image = await decodeImage(input.image);
  const count = new TokenCounter(pipe.model, input.max_tokens);
  const [first] = await pipe(image, { max_new_tokens: input.max_tokens, streamer: count.streamer });
  return { output: { text: textOf(first, "generated_text") }, ...endOf(count) };
};

function endOf(count: TokenCounter) {
  return { completionTokens: count.tokens, finishReason: count.finishReason };
}

/** Returns a text of a result, which is read as unknown because the library's return types nest arrays. */
function textOf(first: unknown, key: string): string {
  const text = (first as Record<string, unknown> | undefined)?.[key];
  if (typeof text !== "string") throw new Error(`the pipeline returned no ${key}`);
  return text;
}

/** Returns the text that the pipeline prepends, as T5 requires it. */
function prefixOf({ model }: TextPipeline, task: string): string {
  const { prefix, task_specific_params: params } = model.config as {
    prefix?: string | null;
    task_specific_params?: Record<string, { prefix?: string } | undefined> | null;
  };
  return (params?.[task]?.prefix ?? "") + (prefix ?? "");
}

/**
 * Returns source and target language for a multilingual model (NLLB, M2M100, mBART). Both are required: the tokenizer
 * keeps the source language of the previous job and would use that one.
 */
function languagesFor({ tokenizer }: TextPipeline, input: OnnxInput<"translation">): Record<string, string> {
  const { language_codes: codes } = tokenizer as { language_codes?: string[] };
  const languages: Record<string, string> = {};
  for (const field of ["src_lang", "tgt_lang"] as const) {
    const code = input[field];
    if (codes === undefined) {
      if (code !== undefined)
        throw new JobFailure(
          "invalid_input",
          `${field}: this model supports only one pair of languages. Omit the parameter`,
        );
      continue;
    }
    if (code === undefined || !codes.includes(code)) {
      throw new JobFailure("invalid_input", `${field}: must be one of ${codes.join(", ")}`);
    }
    languages[field] = code;
  }
  return languages;
}
