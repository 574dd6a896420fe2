import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { authenticate, bearerToken, requireScope } from "../middleware/auth.ts";
import {
  cargoDetailSchema,
  cargoSchema,
  changeCargoSchema,
  createCargoSchema,
  ownedCargoSchema,
  presentCargo,
  presentCargoDetail,
  presentOwnedCargo,
} from "../schemas/cargo-schemas.ts";
import { servePublic, serveScoped } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps, type HttpEnv } from "../http-deps.ts";
import { answerJson } from "../server/large-answer.ts";
import { metaSchema, pageQuery } from "../schemas/page.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const slugParams = z.object({ slug: z.string() });

const listRoute = createRoute({
  operationId: "listCargos",
  method: "get",
  path: `${API_BASE}/cargos`,
  summary: "Enabled and approved Cargos, by slug",
  request: {
    query: z.object({
      runtime_type: z.enum(RUNTIME_TYPES).optional(),
      category: z.enum(CARGO_CATEGORIES).optional(),
    }),
  },
  responses: { 200: json(z.object({ cargos: z.array(cargoSchema), count: z.int() }), "Cargos") },
});

const detailRoute = createRoute({
  operationId: "getCargo",
  method: "get",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "A Cargo with the schemas of its input and output",
  description: "No credential is needed, but for a Cargo of your own that is not approved yet.",
  security: [{}, { bearer: ["read"] }],
  request: { params: slugParams },
  responses: { 200: json(data(cargoDetailSchema), "The Cargo"), ...failures(401, 403, 404) },
});

const ownRoute = createRoute({
  operationId: "listOwnCargos",
  method: "get",
  path: `${API_BASE}/account/cargos`,
  summary: "Your own Cargos, by slug, with their approval",
  request: { query: z.object(pageQuery()) },
  responses: { 200: json(z.object({ data: z.array(ownedCargoSchema), meta: metaSchema }), "Cargos") },
});

const createCargoRoute = createRoute({
  operationId: "createCargo",
  method: "post",
  path: `${API_BASE}/cargos`,
  summary: "Make a Cargo of your own",
  description:
    "Only you can see and run it until the operator approves it. Its fields are those of catalog/README.md; together they have at most 65,536 bytes as JSON. An account has at most 50 Cargos at a time and 1,000 slugs in all.",
  request: jsonBody(createCargoSchema),
  responses: { 201: json(data(ownedCargoSchema), "The Cargo, not approved") },
});

const changeRoute = createRoute({
  operationId: "changeCargo",
  method: "patch",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "Change a Cargo of your own",
  description:
    "Fields that are left out stay. What changes what runs, the name or the description, raises the price or lowers the memory figures takes the approval away. Jobs that were accepted keep the Cargo that they were accepted for.",
  request: { params: slugParams, ...jsonBody(changeCargoSchema) },
  responses: { 200: json(data(ownedCargoSchema), "The Cargo"), ...failures(404) },
});

const deleteRoute = createRoute({
  operationId: "deleteCargo",
  method: "delete",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "Delete a Cargo of your own",
  description: "Its waiting jobs fail and cost nothing; those that an Island has go on. The slug stays yours.",
  request: { params: slugParams },
  responses: {
    200: json(data(z.object({ slug: z.string(), deleted: z.literal(true) })), "Deleted"),
    ...failures(404),
  },
});

export function serveCargos(app: HttpApp, deps: HttpDeps): void {
  const { catalog, cargos } = deps;
  servePublic(app, listRoute, ({ c, query }) => {
    const found = catalog.list({ runtimeType: query.runtime_type, category: query.category }).map(presentCargo);
    return c.json({ cargos: found, count: found.length });
  });
  servePublic(app, detailRoute, async ({ c, params }) => {
    const cargo = catalog.find(params.slug) ?? (await findOwn(c, deps, params.slug));
    return c.json({ data: presentCargoDetail(cargo) });
  });
  serveScoped(app, deps, "read", ownRoute, async ({ c, identity, query: { limit, offset } }) => {
    const { cargos: own, total } = await cargos.list(identity.accountId, { limit, offset });
    return answerJson(c, identity, { data: own.map(presentOwnedCargo), meta: { total, limit, offset } });
  });
  serveScoped(app, deps, "write", createCargoRoute, async ({ c, identity, body }) => {
    const { enabled = true, ...fields } = body;
    const cargo = await cargos.create(identity.accountId, fields, enabled);
    return c.json({ data: presentOwnedCargo(cargo) }, 201);
  });
  serveScoped(app, deps, "write", changeRoute, async ({ c, identity, params, body }) => {
    const { enabled, ...fields } = body;
    const cargo = await cargos.update(identity.accountId, params.slug, fields, enabled);
    return c.json({ data: presentOwnedCargo(cargo) });
  });
  serveScoped(app, deps, "write", deleteRoute, async ({ c, identity, params }) => {
    await cargos.remove(identity.accountId, params.slug);
    return c.json({ data: { slug: params.slug, deleted: true } });
  });
}

/** A credential is looked at only where it can make a difference. @throws {ServiceError} `cargo_not_found` */
async function findOwn(c: Context<HttpEnv>, { accounts, catalog }: HttpDeps, slug: string): Promise<CatalogEntry> {
  const { incoming } = c.env;
  if (bearerToken(incoming) === undefined) return catalog.get(slug);
  const identity = await authenticate(accounts, incoming, c.get("limits"));
  requireScope(identity, "read");
  return catalog.get(slug, identity.accountId);
}
