import type { core } from "zod";
import { chatInputSchema, chatRequestOf, type ChatRequest } from "../../shared/chat-input.ts";
import { JobFailure } from "../../shared/errors.ts";
import { TEXT_TASK_INPUTS, type TextTask, type TextTaskInput } from "../../shared/text-task.ts";
import type { RunRequest } from "./runtime.ts";

/** Reads the input of a chat. @throws {JobFailure} `invalid_input`, naming the first wrong field. */
export function readChat(input: RunRequest["input"]): ChatRequest {
  const parsed = chatInputSchema.safeParse(input);
  if (parsed.success) return chatRequestOf(parsed.data);
  throw invalidInput(parsed.error);
}

/** Reads the input of a text task. @throws {JobFailure} `invalid_input`, naming the first wrong field. */
export function readTask<Task extends TextTask>(task: Task, input: RunRequest["input"]): TextTaskInput<Task> {
  const parsed = TEXT_TASK_INPUTS[task].safeParse(input);
  if (parsed.success) return parsed.data as TextTaskInput<Task>;
  throw invalidInput(parsed.error);
}

function invalidInput({ issues: [issue] }: { readonly issues: readonly core.$ZodIssue[] }): JobFailure {
  return new JobFailure("invalid_input", `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is wrong"}`);
}
