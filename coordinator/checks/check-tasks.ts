import type { FieldError } from "../../shared/errors.ts";
import { exportToolCheck, type ToolCheck } from "../../shared/grammar/call-schema.ts";
import type { ToolCall } from "../../shared/chat-tools.ts";
import type { FinishReason } from "../../shared/output.ts";
import { type CheckedCargo, inputErrors, toolsOf } from "../catalog/input-check.ts";
import { inputSchemas, SchemaError } from "../catalog/input-schema.ts";
import type { JobInput } from "../store/jobs/job-store.ts";
import { type Answer, type AnswerVerdict, judgeAnswer } from "./answer-check.ts";
import { compareResults, type JobResult, type Likeness } from "./likeness.ts";

type Schema = Readonly<Record<string, unknown>>;

/** An answer whose long texts are not part of the JSON, which is faster to send to a thread. */
interface SentAnswer {
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly json: string;
}

interface InputFindings {
  readonly errors: readonly FieldError[];
  /** The check of a chat's tools, for the cache of the event loop's thread; null without tools. */
  readonly toolCheck: readonly [string, ToolCheck] | null;
}

/** The checks that a thread can run. Their parameters and results can be cloned. */
export const CHECK_TASKS = {
  /** Checks inputs, given as JSON. */
  inputs({ cargo, inputs }: { readonly cargo: CheckedCargo; readonly inputs: readonly string[] }): InputFindings[] {
    return inputs.map((inputJson) => {
      const input = JSON.parse(inputJson) as JobInput;
      const errors = inputErrors(cargo, { input, inputJson });
      const tools = cargo.isChat && errors.length === 0 ? toolsOf(input) : [];
      return { errors, toolCheck: tools.length === 0 ? null : exportToolCheck(tools) };
    });
  },
  answer({ text, calls, json }: SentAnswer): AnswerVerdict {
    const rest = JSON.parse(json) as {
      readonly finishReason: FinishReason;
      readonly request: Answer["request"];
    };
    return judgeAnswer({ text, calls, ...rest });
  },
  /** Returns whether an output fits its Cargo's schema. Only a text is given as it is. */
  output({
    schema,
    text,
    json,
  }: {
    readonly schema: Schema;
    readonly text: string | null;
    readonly json: string;
  }): boolean {
    const value: unknown = text ?? JSON.parse(json);
    return inputSchemas.fits(schema, value, text?.length ?? json.length);
  },
  /** Compares results of two runs of a job, given as JSON. */
  results({ a, b, isExact }: { readonly a: string; readonly b: string; readonly isExact: boolean }): Likeness {
    return compareResults(JSON.parse(a) as JobResult, JSON.parse(b) as JobResult, isExact);
  },
  /** Returns the problems of a Cargo's schema that only its compiler finds, or of its example. */
  schema({ schema, example }: { readonly schema: Schema; readonly example: string | null }): {
    readonly ofSchema: readonly FieldError[];
    readonly ofExample: readonly FieldError[];
  } {
    try {
      inputSchemas.assertCompiles(schema);
    } catch (error) {
      if (error instanceof SchemaError) return { ofSchema: error.problems, ofExample: [] };
      throw error;
    }
    if (example === null) return { ofSchema: [], ofExample: [] };
    return { ofSchema: [], ofExample: inputSchemas.errorsOf(schema, JSON.parse(example), example.length) };
  },
} as const;

export type CheckKind = keyof typeof CHECK_TASKS;
export type CheckParams<K extends CheckKind> = Parameters<(typeof CHECK_TASKS)[K]>[0];
export type CheckResult<K extends CheckKind> = ReturnType<(typeof CHECK_TASKS)[K]>;
