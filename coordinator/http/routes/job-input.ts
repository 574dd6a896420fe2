import { createRoute, z } from "@hono/zod-openapi";
import { isJsonValue } from "../../../shared/json-value.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const inputSchema = z
  .object({
    data: z
      .unknown()
      .optional()
      .openapi({ description: "One JSON value, a text too: the program reads it as one line of JSON" }),
    end: z.literal(true).optional().openapi({ description: "In place of `data`: the input ends" }),
    seq: z
      .int()
      .min(1)
      .optional()
      .openapi({ description: "Number of this line in the job, from 1 on. A number that came before changes nothing" }),
  })
  .superRefine(({ data: value, end }, context) => {
    if ((value === undefined) === (end === undefined)) {
      context.addIssue({ code: "custom", path: ["data"], message: "give either data or end" });
    } else if (value !== undefined && !isJsonValue(value)) {
      context.addIssue({ code: "custom", path: ["data"], message: "must be nested at most 100 levels deep" });
    }
  })
  .openapi("JobInput");

const receiptSchema = z
  .object({
    id: z.string(),
    seq: z.int().openapi({ description: "The line's number" }),
    taken: z.boolean().openapi({
      description: "The program was given the line. False after 2 s in which it was not: the line waits",
    }),
    repeated: z.boolean().openapi({ description: "The line had come before" }),
    waiting_bytes: z.int().openapi({ description: "Of all lines of the job that its program was not given yet" }),
  })
  .openapi("JobInputReceipt");

const inputRoute = createRoute({
  operationId: "sendJobInput",
  method: "post",
  path: `${API_BASE}/jobs/{id}/input`,
  summary: "Send more input to a running job of an interactive Cargo",
  description:
    "The lines reach the job's program in the order of the answers. A client that repeats requests numbers its lines with `seq`. " +
    "409 job_not_running before the job runs and after its end; 409 input_closed after `end` and for other Cargos; " +
    "429 with the limit input_backlog while the program does not read.",
  request: { params: z.object({ id: z.string() }), ...jsonBody(inputSchema) },
  responses: { 200: json(data(receiptSchema), "The line was taken in"), ...failures(404, 409, 413, 503) },
});

export function serveJobInput(app: HttpApp, deps: HttpDeps): void {
  const { jobs } = deps;
  serveScoped(app, deps, "write", inputRoute, async ({ c, identity, params, body }) => {
    const line = body.end === true ? null : JSON.stringify(body.data);
    const receipt = await jobs.sendInput(identity.accountId, params.id, { line, seq: body.seq });
    const { seq, isTaken: taken, isRepeat: repeated, waitingBytes: waiting_bytes } = receipt;
    return c.json({ data: { id: params.id, seq, taken, repeated, waiting_bytes } });
  });
}
