import { z } from "@hono/zod-openapi";
import { isJsonObject } from "../../../shared/json-value.ts";
import { ignoredEntry } from "../../../shared/request-object.ts";

/** Returns the schema of a tool that only its vendor can run. The tool is ignored and becomes null. */
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
  /** Path of the tool in the request: `tools.8`, or `tools.4.tools.1` in a namespace. */
  readonly path: string;
}

/** Returns the tools without the ignored ones, which are null. @param path Path of the list in the request. */
export function offeredTools<T>(tools: readonly (T | null)[] | null | undefined, path = "tools"): OfferedTool<T>[] {
  return (tools ?? []).flatMap((tool, index) => (tool === null ? [] : [{ tool, path: `${path}.${index}` }]));
}

/** Maps a path of the job's input, which has only the offered tools, to the path in the request. */
export function toolPathOf(offered: readonly OfferedTool<unknown>[], path: string): string {
  return path.replace(/^tools\.(\d+)/, (prefix, index) => offered[Number(index)]?.path ?? prefix);
}
