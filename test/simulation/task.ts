import type { JobInput } from "../../coordinator/store/jobs/job-store.ts";
import { MAX_TOKENS, type CargoName } from "./settings.ts";

/** Task of a simulated job. Its input determines the correct result, so that all Islands return the same. */
export interface Task {
  readonly cargo: CargoName;
  /** A number that is unique for each job of a seed. */
  readonly name: string;
  readonly tokens: number;
}

export function inputOf({ name, tokens }: Task): JobInput {
  return { prompt: `${name} ${tokens}`, max_tokens: MAX_TOKENS };
}

/** Returns the task of an input. */
export function taskOf(cargo: CargoName, { prompt }: JobInput): Task {
  const [name = "", tokens] = String(prompt).split(" ");
  return { cargo, name, tokens: Number(tokens) };
}

export function tokenOf({ name }: Task, index: number): string {
  return `${name}.${index} `;
}

/** Returns the complete text of a task that streams tokens. */
export function textOf(task: Task, tokens = task.tokens): string {
  return Array.from({ length: tokens }, (_, index) => tokenOf(task, index)).join("");
}

/** Returns the result of a task of the Cargo `value`. */
export function valueOf({ name }: Task): { readonly answer: string } {
  return { answer: name };
}
