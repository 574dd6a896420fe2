import { createRoute, z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { authenticate, credentialOf, requireScope } from "../middleware/auth.ts";
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
import { answerJson } from "../middleware/json-answer.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";

const slugParams = z.object({ slug: z.string() });

const listRoute = createRoute({
  operationId: "listCargos",
  method: "get",
  path: `${API_BASE}/cargos`,
  summary: "List enabled and approved Cargos, by slug",
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
  description: "Public. Only a Cargo of your own that is not approved yet needs a credential.",
  security: [{}, { bearer: ["read"] }],
  request: { params: slugParams },
  responses: { 200: json(data(cargoDetailSchema), "The Cargo"), ...failures(401, 403, 404) },
});

const ownRoute = createRoute({
  operationId: "listOwnCargos",
  method: "get",
  path: `${API_BASE}/account/cargos`,
  summary: "List your own Cargos, by slug, with their approval",
  request: { query: z.object(pageQuery()) },
  responses: { 200: json(pageOf(ownedCargoSchema), "Cargos") },
});

const createCargoRoute = createRoute({
  operationId: "createCargo",
  method: "post",
  path: `${API_BASE}/cargos`,
  summary: "Create a Cargo of your own",
  description:
    "Only you can see and run it until the operator approves it. catalog/README.md explains the fields; together they have at most 65,536 bytes as JSON. An account has at most 50 Cargos at a time and 1,000 slugs in total.",
  request: jsonBody(createCargoSchema),
  responses: { 201: json(data(ownedCargoSchema), "The Cargo, not approved") },
});

const changeRoute = createRoute({
  operationId: "changeCargo",
  method: "patch",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "Change a Cargo of your own",
  description:
    "Fields that are left out stay as they are. A change of what runs, of the name or the description, a higher price or lower memory figures remove the approval. Accepted jobs run with the Cargo as it was.",
  request: { params: slugParams, ...jsonBody(changeCargoSchema) },
  responses: { 200: json(data(ownedCargoSchema), "The Cargo"), ...failures(404) },
});

const deleteRoute = createRoute({
  operationId: "deleteCargo",
  method: "delete",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "Delete a Cargo of your own",
  description:
    "Its waiting jobs fail and cost nothing; jobs that an Island has already continue. The slug stays yours.",
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
    const cargo =
      catalog.find(params.slug) ?? (await catalog.seek(params.slug)) ?? (await findOwn(c, deps, params.slug));
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

/** Checks the credential only here, because a public Cargo needs none. @throws {ServiceError} `cargo_not_found` */
async function findOwn(c: Context<HttpEnv>, { accounts, catalog }: HttpDeps, slug: string): Promise<CatalogEntry> {
  const { incoming } = c.env;
  if (credentialOf(incoming) === undefined) return catalog.get(slug);
  const identity = await authenticate(accounts, incoming, c.get("limits"));
  requireScope(identity, "read");
  return catalog.get(slug, identity.accountId);
}
