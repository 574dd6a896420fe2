import { createRoute, z } from "@hono/zod-openapi";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { CARGO_STATUSES } from "../../catalog/operator-cargos.ts";
import { serveOperator } from "../middleware/endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "../http-deps.ts";
import { pinsSchema, presentCargoReview, readPins, reviewSchema } from "../schemas/review-schemas.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, failures, json, jsonBody } from "../schemas/responses.ts";
import { creditsSchema } from "../schemas/wire-units.ts";
import { actorOf } from "./operator-actor.ts";

const params = z.object({ slug: z.string() });

const lineSchema = z
  .object({
    slug: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES).nullable(),
    status: z.enum(CARGO_STATUSES),
    origin: z.enum(["shipped", "imported", "owned"]),
    owner_id: z.string().nullable(),
    owner_email: z.string().nullable(),
    pinned: z.boolean().nullable().openapi({ description: "Null for a Cargo that breaks a rule of this version" }),
    price_per_job: creditsSchema.nullable().openapi({ description: "In force for new jobs; null as above" }),
    shipped_price_per_job: creditsSchema
      .nullable()
      .openapi({ description: "That of its file; null unless it is shipped" }),
  })
  .openapi("KnownCargo");

const listRoute = createRoute({
  operationId: "listNetworkCargos",
  method: "get",
  path: `${API_BASE}/operator/cargos`,
  summary: "List all Cargos with their state, by slug",
  request: {
    query: z.object({
      ...pageQuery(),
      status: z.enum(CARGO_STATUSES).optional().openapi({ description: "waiting: those that wait for an approval" }),
    }),
  },
  responses: { 200: json(pageOf(lineSchema), "One page of Cargos") },
});

const showRoute = createRoute({
  operationId: "getCargoReview",
  method: "get",
  path: `${API_BASE}/operator/cargos/{slug}`,
  summary: "Everything that an approval of the Cargo would sign, as it is now",
  request: { params },
  responses: { 200: json(data(reviewSchema), "The Cargo under review"), ...failures(404) },
});

const reviewRoute = createRoute({
  operationId: "reviewCargo",
  method: "post",
  path: `${API_BASE}/operator/cargos/{slug}/review`,
  summary: "The same, with the pin that an approval needs",
  description:
    "A pin that is not given is asked of the image's registry or the model's hub. A host that does not respond within 2.5 s is named in " +
    "the error. Changes nothing.",
  request: { params, ...jsonBody(pinsSchema) },
  responses: { 200: json(data(reviewSchema), "The Cargo under review, pinned"), ...failures(400, 404) },
});

const approveRoute = createRoute({
  operationId: "approveCargo",
  method: "post",
  path: `${API_BASE}/operator/cargos/{slug}/approval`,
  summary: "Sign exactly the Cargo that was reviewed, and offer it to everybody",
  description:
    "`revision` and the pin are those of the review; a Cargo that is another one by now is refused (400). Also switches a disabled one on.",
  request: {
    params,
    ...jsonBody(pinsSchema.extend({ revision: z.string().min(1).max(200) }).openapi("ApproveCargo")),
  },
  responses: {
    200: json(data(z.object({ slug: z.string(), revision: z.string(), approved: z.literal(true) })), "Approved"),
    ...failures(400, 404),
  },
});

const switched = { 200: json(data(z.object({ slug: z.string(), disabled: z.boolean() })), "Done") };
const disableRoute = createRoute({
  operationId: "disableCargo",
  method: "post",
  path: `${API_BASE}/operator/cargos/{slug}/disabled`,
  summary: "Switch a Cargo off for everybody",
  description: "Its waiting jobs fail; jobs that an Island has go on.",
  request: { params },
  responses: { ...switched, ...failures(404) },
});
const enableRoute = createRoute({
  operationId: "enableCargo",
  method: "delete",
  path: `${API_BASE}/operator/cargos/{slug}/disabled`,
  summary: "Undo that; approves nothing",
  request: { params },
  responses: { ...switched, ...failures(404) },
});

const priceRoute = createRoute({
  operationId: "setCargoPrice",
  method: "patch",
  path: `${API_BASE}/operator/cargos/{slug}`,
  summary: "Change the price of a shipped Cargo",
  description:
    "It counts for jobs that are submitted from now on, at every coordinator, and stays when the catalog is updated. Other Cargos have " +
    "their price in their own definition (400).",
  request: {
    params,
    ...jsonBody(
      z
        .object({ price_per_job: creditsSchema.nullable().openapi({ description: "Null: the shipped price again" }) })
        .openapi("SetCargoPrice"),
    ),
  },
  responses: { 200: json(data(reviewSchema), "The Cargo with its price"), ...failures(400, 404) },
});

/** Cargos as operators see and approve them. */
export function serveOperatorCargos(app: HttpApp, deps: HttpDeps): void {
  const { catalog } = deps.operators;
  const emailOf = async (ownerId: string | null): Promise<string | null> =>
    ownerId === null ? null : ((await deps.store.accounts.get(ownerId))?.email ?? null);

  serveOperator(app, deps, listRoute, async ({ c, query: { limit, offset, status } }) => {
    const all = (await catalog.list()).filter((line) => status === undefined || line.status === status);
    const page = all.slice(offset, offset + limit);
    const emails = await Promise.all(page.map(({ ownerId }) => emailOf(ownerId)));
    const shown = page.map(
      ({ slug, runtimeType, status: state, origin, ownerId, isPinned, price, shippedPrice }, index) => ({
        slug,
        runtime_type: runtimeType,
        status: state,
        origin,
        owner_id: ownerId,
        owner_email: emails[index] ?? null,
        pinned: isPinned,
        price_per_job: price,
        shipped_price_per_job: shippedPrice,
      }),
    );
    return c.json({ data: shown, meta: { total: all.length, limit, offset } });
  });

  serveOperator(app, deps, showRoute, async ({ c, params: { slug } }) => {
    const review = await catalog.review(slug);
    return c.json({ data: presentCargoReview(review, await emailOf(review.ownerId)) });
  });

  serveOperator(app, deps, reviewRoute, async ({ c, params: { slug }, body }) => {
    const review = await catalog.pinned(slug, readPins(body));
    return c.json({ data: presentCargoReview(review, await emailOf(review.ownerId)) });
  });

  serveOperator(app, deps, approveRoute, async ({ c, identity, params: { slug }, body }) => {
    const { revision, ...pins } = body;
    const actor = actorOf(c, identity, deps);
    const approval = await catalog.approve(actor, identity.accountId, slug, revision, readPins(pins));
    return c.json({ data: { slug, revision: approval.revision, approved: true } });
  });

  serveOperator(app, deps, priceRoute, async ({ c, identity, params: { slug }, body }) => {
    const review = await catalog.setPrice(actorOf(c, identity, deps), slug, body.price_per_job);
    return c.json({ data: presentCargoReview(review, null) });
  });

  for (const [route, isDisabled] of [[disableRoute, true] as const, [enableRoute, false] as const]) {
    serveOperator(app, deps, route, async ({ c, identity, params: { slug } }) => {
      await catalog.setDisabled(actorOf(c, identity, deps), slug, isDisabled);
      return c.json({ data: { slug, disabled: isDisabled } });
    });
  }
}
