import { createRoute, z } from "@hono/zod-openapi";
import { ServiceError } from "../../../shared/errors.ts";
import { submitterOf } from "../../accounts/identity.ts";
import { serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { failures, json } from "../schemas/responses.ts";

const modelSchema = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int(),
    owned_by: z.string(),
    tool_calls: z.enum(["grammar"]).openapi({
      description: "How calls of tools are made: by a grammar, with any chat model",
    }),
  })
  .openapi("Model");

const listRoute = createRoute({
  operationId: "listModels",
  method: "get",
  path: `${API_BASE}/models`,
  summary: "List chat Cargos in the shape of OpenAI's models",
  description:
    "Those that the caller can run, with its own that are not approved yet. For an API key with a list of Cargos: those of the list.",
  responses: { 200: json(z.object({ object: z.literal("list"), data: z.array(modelSchema) }), "Models") },
});

const detailRoute = createRoute({
  operationId: "getModel",
  method: "get",
  path: `${API_BASE}/models/{id}`,
  summary: "A chat Cargo in the shape of OpenAI's models",
  request: { params: z.object({ id: z.string() }) },
  responses: { 200: json(modelSchema, "The model"), ...failures(404) },
});

export function serveModels(app: HttpApp, deps: HttpDeps): void {
  const { catalog } = deps;
  serveScoped(app, deps, "read", listRoute, ({ c, identity }) => {
    const { apiKey } = submitterOf(identity);
    const chatCargos = catalog
      .list({}, identity.accountId)
      .filter(({ isChat, slug }) => isChat && (apiKey?.cargos?.includes(slug) ?? true));
    return c.json({ object: "list", data: chatCargos.map(({ slug }) => presentModel(slug)) });
  });
  serveScoped(app, deps, "read", detailRoute, async ({ c, params, identity }) => {
    const { accountId } = identity;
    const cargo = catalog.find(params.id, accountId) ?? (await catalog.seek(params.id, accountId));
    const isAllowed = submitterOf(identity).apiKey?.cargos?.includes(params.id) ?? true;
    if (cargo?.isChat !== true || !isAllowed) {
      throw new ServiceError("cargo_not_found", `There is no chat Cargo "${params.id}"`);
    }
    return c.json(presentModel(params.id));
  });
}

/** `created` is 0: catalog entries have no date, and clients need the member. */
function presentModel(slug: string): z.infer<typeof modelSchema> {
  return { id: slug, object: "model", created: 0, owned_by: "atoll", tool_calls: "grammar" };
}
