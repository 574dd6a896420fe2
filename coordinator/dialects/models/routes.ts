import { z } from "@hono/zod-openapi";
import { submitterOf, type Identity } from "../../accounts/identity.ts";
import type { Catalog, CatalogEntry } from "../../catalog/catalog.ts";
import { findModel, noModel } from "../../catalog/find-model.ts";
import { modelKindOf } from "../../catalog/model-kind.ts";
import type { ErrorStyle } from "../../http/error-responses.ts";
import { validate } from "../../http/middleware/body.ts";
import type { HttpDeps } from "../../http/http-deps.ts";
import { json } from "../../http/schemas/responses.ts";
import { routeGroup, type StyledRequest } from "../../http/route-group.ts";
import {
  ACTIVE,
  anthropicModelsQuery,
  modelSchema,
  type ModelState,
  type NamedCargo,
  presentAnthropicModel,
  presentAnthropicModels,
  presentModel,
} from "./schemas.ts";

/** Returns the format of errors. Only Anthropic's clients send the header, in every request. */
function styleOf(request: StyledRequest): ErrorStyle {
  return request.header("anthropic-version") === undefined ? "openai" : "anthropic";
}

export const modelRoutes = routeGroup("/models", { tag: "Chat", style: "openai", styleOf }, (routes, deps) => {
  const { catalog } = deps;
  routes.get("", {
    id: "listModels",
    is: "List models",
    about:
      "The list contains the Cargos and aliases that the caller can use with OpenAI's or Anthropic's endpoints, including the caller's own unapproved Cargos. For an API key that is limited to some Cargos, only those are listed. `available`, `ready` and `free` are at most 5 s old. With the header `anthropic-version`, chat Cargos are listed in the format of Anthropic's API, paged by `limit` (1 to 1000, default 20), `after_id` and `before_id`; `GET /models/{id}` follows the same format.",
    access: "read",
    responses: { 200: json(z.object({ object: z.literal("list"), data: z.array(modelSchema) }), "Models") },
  })(async ({ c, identity }) => {
    const models = servedModels(catalog, identity);
    if (c.get("style") === "anthropic") {
      const stages = c.req.queries("lifecycle[]") ?? [ACTIVE];
      const chats = models.filter(({ cargo }) => cargo.isChat && stages.includes(ACTIVE));
      return c.json(presentAnthropicModels(chats, validate(anthropicModelsQuery, c.req.query())));
    }
    const stateOf = await modelStates(deps, identity.accountId);
    return { object: "list", data: models.map((model) => presentModel(model, stateOf(model.cargo.slug))) };
  });

  routes.get("/{id}", {
    id: "getModel",
    is: "Get a model",
    access: "read",
    responses: { 200: json(modelSchema, "The model") },
    fails: [404],
  })(async ({ c, params, identity }) => {
    const cargo = await findModel(catalog, params.id, identity.accountId);
    const isAnthropic = c.get("style") === "anthropic";
    if (cargo === undefined || !isServed(cargo, identity) || (isAnthropic && !cargo.isChat)) throw noModel(params.id);
    if (isAnthropic) return c.json(presentAnthropicModel({ id: params.id, cargo }));
    const stateOf = await modelStates(deps, identity.accountId);
    return presentModel({ id: params.id, cargo }, stateOf(cargo.slug));
  });
});

/** Returns the Cargos that the caller may run, sorted by slug, followed by their aliases. */
function servedModels(catalog: Catalog, identity: Identity): NamedCargo[] {
  const { accountId } = identity;
  const own = catalog.list({}, accountId).filter((cargo) => isServed(cargo, identity));
  const ownBySlug = new Map(own.map((cargo) => [cargo.slug, cargo]));
  const aliases = [...catalog.aliases].flatMap(([id, slug]) => {
    const cargo = catalog.find(id, accountId) === undefined ? ownBySlug.get(slug) : undefined;
    return cargo === undefined ? [] : [{ id, cargo }];
  });
  return [...own.map((cargo) => ({ id: cargo.slug, cargo })), ...aliases];
}

function isServed(cargo: CatalogEntry, identity: Identity): boolean {
  return modelKindOf(cargo) !== null && (submitterOf(identity).apiKey?.cargos?.includes(cargo.slug) ?? true);
}

async function modelStates({ availability, catalog, metrics }: HttpDeps, accountId: string) {
  const defaults = catalog.defaultSlugs();
  const { cargos } = await availability.of(accountId);
  const bySlug = new Map(cargos.map((cargo) => [cargo.slug, cargo]));
  return (slug: string): ModelState => ({
    isDefault: defaults.has(slug),
    available: bySlug.get(slug),
    speed: metrics.speedOf(slug),
  });
}
