import { z } from "@hono/zod-openapi";
import { JOB_ERROR_CODES } from "../../../shared/errors.ts";
import { FINISH_REASONS } from "../../../shared/output.ts";
import { percentSchema } from "./job-schemas.ts";
import { usageSchema } from "./wire-units.ts";

/** Data of the events of a job's stream. Source: spec §6, decision 0005. */
export const jobEventSchemas = [
  z
    .object({
      type: z.literal("status"),
      state: z.enum(["pending", "queued", "running", "streaming"]).describe("`streaming` means that output follows"),
      message: z.string().optional().describe("Why there is no output yet"),
      percent: percentSchema.optional(),
    })
    .openapi("StatusEvent", {
      description:
        "A change of state. Until there is output, the current state is sent immediately and then every 5 s, with a `message` that says why the job waits. These repeats reuse the previous event's id",
    }),
  z.object({ type: z.literal("token"), content: z.string().describe("Text to append") }).openapi("TokenEvent"),
  z
    .object({ type: z.literal("reasoning"), content: z.string().describe("Reasoning to append") })
    .openapi("ReasoningEvent", { description: "Reasoning that the model wrote before its completion" }),
  z
    .object({
      type: z.literal("tool_call"),
      index: z.int().describe("Index of the tool call in the completion, starting at 0"),
      id: z.string().optional().describe("Id of the tool call, only in its first part"),
      name: z.string().optional().describe("Name of the tool, only in the first part of the call"),
      arguments: z.string().describe("JSON text to append to the arguments"),
    })
    .openapi("ToolCallEvent", { description: "A part of a tool call" }),
  z.object({ type: z.literal("progress"), step: z.int(), total: z.int() }).openapi("ProgressEvent"),
  z
    .object({
      type: z.literal("image"),
      data: z.base64(),
      format: z.string(),
    })
    .openapi("ImageEvent"),
  z
    .object({
      type: z.literal("done"),
      usage: usageSchema,
      finish_reason: z.enum(FINISH_REASONS),
      output: z.unknown().describe("Output of the job, unless it is text that was already streamed"),
    })
    .openapi("DoneEvent"),
  z
    .object({
      type: z.literal("error"),
      error: z.string(),
      code: z.enum([...JOB_ERROR_CODES, "cancelled"]),
      retryable: z.boolean().describe("Whether another attempt may succeed"),
    })
    .openapi("ErrorEvent"),
] as const;

export const jobEventSchema = z.discriminatedUnion("type", jobEventSchemas).openapi("JobEvent", {
  description:
    "A stream contains any number of `status`, `token`, `reasoning`, `tool_call`, `progress` and `image` events, then one `done` or `error`. A stream whose delivered output was lost in a crash (position_lost) ends without `done` or `error`",
});
