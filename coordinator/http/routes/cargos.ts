import { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { MAX_COUNTED } from "../../islands/cargo-availability.ts";
import type { CatalogEntry } from "../../catalog/catalog.ts";
import { json, data } from "../schemas/responses.ts";
import { routeGroup } from "../route-group.ts";
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
import type { HttpDeps, HttpEnv } from "../http-deps.ts";
import { respondWithJson } from "../middleware/json-response.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";

export const availableCargoSchema = z
  .object({
    slug: z.string(),
    islands: z.int().describe("Number of connected Islands that can run the Cargo"),
    ready: z.int().describe("Number of these Islands that need no download first"),
    free: z.int().describe("Number of these Islands that have a free slot"),
  })
  .openapi("AvailableCargo");

export const isCompleteSchema = z
  .boolean()
  .describe("False if a coordinator did not reply, so that its Islands are missing");

export const cargoRoutes = routeGroup("", { tag: "Cargos" }, (routes, deps) => {
  const { availability, catalog, cargos } = deps;

  routes.get("/availability", {
    id: "listAvailability",
    is: "List the Cargos that Islands can run now",
    about: `Cargos that no connected Island can run are not listed; their jobs wait. The counts are at most 5 s old, and each coordinator counts at most ${MAX_COUNTED} Islands per Cargo. To see why a job waits, get the job.`,
    access: "read",
    responses: {
      200: json(
        z.object({
          data: z.array(availableCargoSchema),
          is_complete: isCompleteSchema,
        }),
        "By slug",
      ),
    },
  })(async ({ identity }) => {
    const { cargos: found, isComplete } = await availability.of(identity.accountId);
    return { data: [...found], is_complete: isComplete };
  });

  routes.get("/cargos", {
    id: "listCargos",
    is: "List enabled and approved Cargos, sorted by slug",
    access: "public",
    query: z.object({
      runtime_type: z.enum(RUNTIME_TYPES).optional(),
      category: z.enum(CARGO_CATEGORIES).optional(),
    }),
    responses: { 200: json(z.object({ cargos: z.array(cargoSchema), count: z.int() }), "Cargos") },
  })(({ query }) => {
    const found = catalog.list({ runtimeType: query.runtime_type, category: query.category }).map(presentCargo);
    return { cargos: found, count: found.length };
  });

  routes.get("/cargos/{slug}", {
    id: "getCargo",
    is: "Get a Cargo with the schemas of its input and output",
    about: "Public. Only your own unapproved Cargos need a credential.",
    security: [{}, { bearer: ["read"] }],
    access: "public",
    responses: { 200: json(data(cargoDetailSchema), "The Cargo") },
    fails: [401, 403, 404],
  })(async ({ c, params }) => {
    const cargo =
      catalog.find(params.slug) ?? (await catalog.seek(params.slug)) ?? (await findOwn(c, deps, params.slug));
    return { data: presentCargoDetail(cargo) };
  });

  routes.get("/account/cargos", {
    id: "listOwnCargos",
    is: "List your own Cargos and their approval, sorted by slug",
    access: "read",
    query: z.object(pageQuery()),
    responses: { 200: json(pageOf(ownedCargoSchema), "Cargos") },
  })(async ({ c, identity, query }) => {
    const { cargos: own, total } = await cargos.list(identity.accountId, query);
    return respondWithJson(c, identity, presentPage(own.map(presentOwnedCargo), total, query));
  });

  routes.post("/cargos", {
    id: "createCargo",
    is: "Create your own Cargo",
    about:
      "Only you can see and run the Cargo until the operator approves it. docs/reference/cargo-format.md explains its fields, which have at most 65,536 bytes as JSON. An account can have at most 50 Cargos at a time and 1,000 slugs in total.",
    access: "write",
    body: createCargoSchema,
    responses: { 201: json(data(ownedCargoSchema), "The Cargo, which is not approved yet") },
  })(async ({ identity, body }) => {
    const { enabled = true, ...fields } = body;
    const cargo = await cargos.create(identity.accountId, fields, enabled);
    return { data: presentOwnedCargo(cargo) };
  });

  routes.patch("/cargos/{slug}", {
    id: "changeCargo",
    is: "Change your own Cargo",
    about:
      "Omitted fields do not change. The Cargo loses its approval if you change what runs, the name or the description, raise the price, or lower the memory requirements. Jobs that were already accepted run the earlier version.",
    access: "write",
    body: changeCargoSchema,
    responses: { 200: json(data(ownedCargoSchema), "The Cargo") },
    fails: [404],
  })(async ({ identity, params, body }) => {
    const { enabled, ...fields } = body;
    const cargo = await cargos.update(identity.accountId, params.slug, fields, enabled);
    return { data: presentOwnedCargo(cargo) };
  });

  routes.delete("/cargos/{slug}", {
    id: "deleteCargo",
    is: "Delete your own Cargo",
    about: "Waiting jobs fail without charge; jobs on an Island continue. The slug stays reserved for your account.",
    access: "write",
    responses: { 200: json(data(z.object({ slug: z.string(), deleted: z.literal(true) })), "Deleted") },
    fails: [404],
  })(async ({ identity, params }) => {
    await cargos.remove(identity.accountId, params.slug);
    return { data: { slug: params.slug, deleted: true } };
  });
});

/** Returns a Cargo, also an unapproved one if the caller owns it. @throws {ServiceError} `cargo_not_found` */
async function findOwn(c: Context<HttpEnv>, { accounts, catalog }: HttpDeps, slug: string): Promise<CatalogEntry> {
  const { incoming } = c.env;
  if (credentialOf(incoming) === undefined) return catalog.get(slug);
  const identity = await authenticate(accounts, incoming, c.get("limits"));
  requireScope(identity, "read");
  return catalog.get(slug, identity.accountId);
}
