import { z } from "@hono/zod-openapi";

/**
 * A tool that the model is not offered, as only its vendor can run it: null. The endpoint's table of parameters names it as a hint.
 * @param isOther The table's rule.
 */
export function otherToolSchema(isOther: (tool: unknown) => boolean) {
  return z
    .object({ type: z.string() })
    .refine(isOther)
    .transform(() => null)
    .openapi({ description: "Not offered to the model" });
}

/** A tool that the model is offered. */
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
