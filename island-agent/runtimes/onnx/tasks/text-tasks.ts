import type {
  FillMaskPipeline,
  QuestionAnsweringPipeline,
  TextClassificationPipeline,
  TokenClassificationPipeline,
  ZeroShotClassificationPipeline,
} from "@huggingface/transformers";
import { JobFailure } from "../../../../shared/errors.ts";
import type { TaskHandler } from "./task-handler.ts";
import { countPromptTokens } from "./count-prompt-tokens.ts";
import { batched } from "./text-batch.ts";

interface Label {
  readonly label: string;
  readonly score: number;
}

/** Tasks text-classification, token-classification, question-answering, zero-shot-classification and fill-mask. */

export const textClassification = batched<"text-classification", TextClassificationPipeline, Label[]>({
  texts: ({ text }) => [{ field: "text", text }],
  // For a list of texts and a `top_k` of 1 the pipeline returns one label for each, not a list.
  rows: async (pipe, texts, { top_k: count }) =>
    (await pipe([...texts], { top_k: count })).map((labels: Label | Label[]) => [labels].flat()),
  output: (_input, rows) => rows.flat().map(({ label, score }) => ({ label, score })),
});

export const tokenClassification: TaskHandler<"token-classification", TokenClassificationPipeline> = async (
  pipe,
  input,
) => {
  const promptTokens = countPromptTokens(pipe, "text", input.text);
  const tokens = await pipe(input.text);
  const output = tokens.map(({ entity, score, word, index }) => ({ entity, score, word, index }));
  return { output, promptTokens };
};

export const questionAnswering: TaskHandler<"question-answering", QuestionAnsweringPipeline> = async (pipe, input) => {
  const { question, context } = input;
  const promptTokens = countPromptTokens(pipe, "context (with the question)", question, context);
  const best = await pipe(question, context);
  return { output: { answer: best.answer, score: best.score }, promptTokens };
};

const HYPOTHESIS = "This example is {}.";

export const zeroShotClassification: TaskHandler<"zero-shot-classification", ZeroShotClassificationPipeline> = async (
  pipe,
  { text, labels, multi_label },
  { gate, onProgress },
) => {
  const sizes = labels.map((label) => countPromptTokens(pipe, "text (with a label)", text, hypothesisOf(label)));
  let step = 0;
  gate.onStep(() => onProgress(++step, labels.length));
  const ranked = await pipe(text, labels, { hypothesis_template: HYPOTHESIS, multi_label });
  const promptTokens = sizes.reduce((sum, tokens) => sum + tokens, 0);
  return { output: { labels: ranked.labels, scores: ranked.scores }, promptTokens };
};

function hypothesisOf(label: string): string {
  return HYPOTHESIS.replace("{}", () => label);
}

export const fillMask: TaskHandler<"fill-mask", FillMaskPipeline> = async (pipe, { text, top_k }) => {
  const promptTokens = countPromptTokens(pipe, "text", text);
  const { mask_token: mask, mask_token_id: maskId } = pipe.tokenizer;
  const ids = pipe.tokenizer(text).input_ids.tolist().flat() as bigint[];
  const masks = ids.filter((id) => Number(id) === maskId).length;
  if (masks !== 1)
    throw new JobFailure("invalid_input", `text: must contain ${mask} exactly once, but contains it ${masks} times`);
  const words = await pipe(text, { top_k });
  return {
    output: words.map(({ token_str, score, sequence }) => ({ token: token_str, score, sequence })),
    promptTokens,
  };
};
