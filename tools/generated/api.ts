import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "@hono/zod-openapi";
import type { Batches } from "../../coordinator/dialects/batches/open-batches.ts";
import { dialects } from "../../coordinator/dialects/dialects.ts";
import { createApp } from "../../coordinator/http/app.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../../coordinator/http/http-deps.ts";
import { parametersOf, type Parameter } from "../../coordinator/http/openai/parameters.ts";
import { openApiDocument } from "../../coordinator/http/openapi/document.ts";
import { systemClock } from "../../shared/clock.ts";

const ROOT = join(import.meta.dirname, "..", "..");

/** The API of this source tree with nothing behind it, to be described. */
function describedApi(): { readonly app: HttpApp; readonly deps: HttpDeps } {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const options = { publicUrl: null };
  const folders = { modelDirectories: [], downloadsDirectory: "" };
  // Nothing is asked of what is missing until a request comes.
  const told = { credentials: { serve: () => undefined }, suspensions: { onAccounts: () => undefined } };
  const deps = { clock: systemClock, version, options, operators: {}, ...folders, ...told } as unknown as HttpDeps;
  return { app: createApp(deps, dialects({} as Batches)), deps };
}

/** The OpenAPI document of this source tree. */
export function currentDocument(): unknown {
  const { app, deps } = describedApi();
  return openApiDocument(app, deps);
}

/** The schema of each request that has a body, by its method and path: `POST /chat/completions`. */
export function requestSchemas(): ReadonlyMap<string, z.ZodType> {
  const { app } = describedApi();
  return new Map(
    app.openAPIRegistry.definitions.flatMap((definition): [string, z.ZodType][] => {
      if (definition.type !== "route") return [];
      const { method, path, request } = definition.route;
      const [media] = Object.values(request?.body?.content ?? {});
      if (media === undefined || !("schema" in media)) return [];
      return [[`${method.toUpperCase()} ${path.slice(API_BASE.length)}`, media.schema as z.ZodType]];
    }),
  );
}

/** The parameters of each request that has a body. */
export function requestParameters(): ReadonlyMap<string, Parameter> {
  return new Map([...requestSchemas()].map(([name, schema]) => [name, parametersOf(schema)]));
}
