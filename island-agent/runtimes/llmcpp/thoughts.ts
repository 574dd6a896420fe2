import { type ChatModelSegment, type ChatWrapper, LlamaText, SpecialTokensText } from "node-llama-cpp";
import { THOUGHT_BUDGETS, type ReasoningEffort } from "../../../shared/reasoning.ts";

/** The template of a model that thinks. One that says nothing of thoughts gets the marks of most such models. */
export function withThoughts(template: ChatWrapper): ChatWrapper {
  const { segments } = template.settings;
  if (segments?.thought !== undefined) return template;
  const thought = {
    prefix: LlamaText(new SpecialTokensText("<think>")),
    suffix: LlamaText(new SpecialTokensText("</think>")),
  };
  return Object.assign(template, { settings: { ...template.settings, segments: { ...segments, thought } } });
}

/** Of an answer that begins without any: the library renders it as thoughts that have ended. */
export const NO_THOUGHTS: readonly ChatModelSegment[] = [
  { type: "segment", segmentType: "thought", text: "", ended: true },
];

/** As LlamaChat takes it. */
export function thoughtBudget(effort: ReasoningEffort): { readonly thoughtTokens: number } {
  return { thoughtTokens: THOUGHT_BUDGETS[effort] };
}
