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

/** Returns the API of this source tree without the parts that handle requests, to describe it. */
function describedApi(): { readonly app: HttpApp; readonly deps: HttpDeps } {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const options = { publicUrl: null };
  const folders = { modelDirectories: [], downloadsDirectory: "" };
  // Only requests use the parts that are missing.
  const told = { credentials: { serve: () => undefined }, suspensions: { onAccounts: () => undefined } };
  const deps = { clock: systemClock, version, options, operators: {}, ...folders, ...told } as unknown as HttpDeps;
  return { app: createApp(deps, dialects({} as Batches)), deps };
}

/** Returns the OpenAPI document of this source tree. */
export function currentDocument(): unknown {
  const { app, deps } = describedApi();
  return openApiDocument(app, deps);
}

/** Returns the schema of each request body by method and path: `POST /chat/completions`. */
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

/** Returns the parameters of each request with a body. */
export function requestParameters(): ReadonlyMap<string, Parameter> {
  return new Map([...requestSchemas()].map(([name, schema]) => [name, parametersOf(schema)]));
}
