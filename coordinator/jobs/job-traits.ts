import { chatInputSchema, chatRequestOf } from "../../shared/chat-input.ts";
import type { JobInput } from "../store/job-store.ts";

/** What a job's input says about its price, its output and its retries. */
export interface JobTraits {
  /** Most tokens that the client asked for; null for a Cargo that is not a chat. */
  readonly maxTokens: number | null;
  /** Another Island can continue after the text that was delivered. */
  readonly canContinue: boolean;
}

/** An answer in JSON cannot continue: a grammar has no way to start in the middle. */
export function traitsOf(input: JobInput, isChat: boolean): JobTraits {
  const parsed = isChat ? chatInputSchema.safeParse(input) : undefined;
  if (parsed === undefined || !parsed.success) return { maxTokens: null, canContinue: false };
  const request = chatRequestOf(parsed.data);
  return { maxTokens: request.maxTokens, canContinue: request.responseFormat.type === "text" };
}
