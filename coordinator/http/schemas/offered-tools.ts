import { z } from "@hono/zod-openapi";
import { isJsonObject } from "../../../shared/json-value.ts";
import { ignoredEntry } from "../../../shared/request-object.ts";

/**
 * A tool that is ignored, as only its vendor can run it: null.
 * @param own The types of the tools that the model is offered.
 */
export function otherToolSchema(...own: readonly string[]) {
  const isOther = (tool: unknown): boolean =>
    isJsonObject(tool) && typeof tool["type"] === "string" && !own.includes(tool["type"]);
  const schema = z
    .object({ type: z.string() })
    .refine(isOther)
    .transform(() => null)
    .describe("Not offered to the model");
  return ignoredEntry(schema, "tools of other types, such as web_search, are not offered to the model", isOther);
}

export interface OfferedTool<T> {
  readonly tool: T;
  /** Where the request has it: `tools.8`, or `tools.4.tools.1` in a namespace. */
  readonly path: string;
}

/** The tools of a list that the model is offered. `path`: where the request has the list. */
export function offeredTools<T>(tools: readonly (T | null)[] | null | undefined, path = "tools"): OfferedTool<T>[] {
  return (tools ?? []).flatMap((tool, index) => (tool === null ? [] : [{ tool, path: `${path}.${index}` }]));
}

/** The path of a tool's field in the request, from its path in the job's input, which has only the tools that are offered. */
export function toolPathOf(offered: readonly OfferedTool<unknown>[], path: string): string {
  return path.replace(/^tools\.(\d+)/, (place, index) => offered[Number(index)]?.path ?? place);
}
