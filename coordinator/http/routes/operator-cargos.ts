import { z } from "@hono/zod-openapi";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { CARGO_STATUSES } from "../../catalog/operator-cargos.ts";
import { pinsSchema, presentCargoReview, readPins, reviewSchema } from "../schemas/review-schemas.ts";
import { pageOf, pageQuery } from "../schemas/pagination.ts";
import { data, json } from "../schemas/responses.ts";
import { creditsSchema } from "../schemas/wire-units.ts";
import { actorOf } from "./operator-actor.ts";
import { routeGroup } from "../route-group.ts";

const lineSchema = z
  .object({
    slug: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES).nullable(),
    status: z.enum(CARGO_STATUSES),
    origin: z.enum(["shipped", "imported", "owned"]),
    owner_id: z.string().nullable(),
    owner_email: z.string().nullable(),
    pinned: z.boolean().nullable().describe("Null for a Cargo that is invalid in this version"),
    price_per_job: creditsSchema
      .nullable()
      .describe("Current price for new jobs; null for a Cargo that is invalid in this version"),
    shipped_price_per_job: creditsSchema.nullable().describe("Price in the shipped catalog; null for other Cargos"),
  })
  .openapi("KnownCargo");

const switched = { 200: json(data(z.object({ slug: z.string(), disabled: z.boolean() })), "Done") };

/** Cargos as operators see and approve them. */
export const operatorCargoRoutes = routeGroup("/operator/cargos", { tag: "Operator" }, (routes, deps) => {
  const { catalog } = deps.operators;
  const emailOf = async (ownerId: string | null): Promise<string | null> =>
    ownerId === null ? null : ((await deps.store.accounts.get(ownerId))?.email ?? null);

  routes.get("", {
    id: "listNetworkCargos",
    is: "List all Cargos with their state, by slug",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      status: z.enum(CARGO_STATUSES).optional().describe("waiting: those that wait for an approval"),
    }),
    answers: { 200: json(pageOf(lineSchema), "A page of Cargos") },
  })(async ({ query: { limit, offset, status } }) => {
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
    return { data: shown, meta: { total: all.length, limit, offset } };
  });

  routes.get("/{slug}", {
    id: "getCargoReview",
    is: "Get what an approval of the Cargo would sign",
    access: "operator",
    answers: { 200: json(data(reviewSchema), "The Cargo under review") },
    fails: [404],
  })(async ({ params: { slug } }) => {
    const review = await catalog.review(slug);
    return { data: presentCargoReview(review, await emailOf(review.ownerId)) };
  });

  routes.post("/{slug}/review", {
    id: "reviewCargo",
    is: "Review a Cargo with the pin that an approval needs",
    about:
      "A missing pin is looked up in the image's registry or the model's hub; the error names a host that does not respond within 2.5 s. Changes nothing.",
    access: "operator",
    body: pinsSchema,
    answers: { 200: json(data(reviewSchema), "The Cargo under review, with its pins") },
    fails: [400, 404],
  })(async ({ params: { slug }, body }) => {
    const review = await catalog.pinned(slug, readPins(body));
    return { data: presentCargoReview(review, await emailOf(review.ownerId)) };
  });

  routes.post("/{slug}/approval", {
    id: "approveCargo",
    is: "Approve the reviewed Cargo for all accounts",
    about:
      "Send `revision` and the pin of the review; if the Cargo changed since, the request is refused (400). The approval signs the Cargo and also enables it.",
    access: "operator",
    body: pinsSchema.extend({ revision: z.string().min(1).max(200) }).openapi("ApproveCargo"),
    answers: {
      200: json(data(z.object({ slug: z.string(), revision: z.string(), approved: z.literal(true) })), "Approved"),
    },
    fails: [400, 404],
  })(async ({ c, identity, params: { slug }, body }) => {
    const { revision, ...pins } = body;
    const actor = actorOf(c, identity, deps);
    const approval = await catalog.approve(actor, identity.accountId, slug, revision, readPins(pins));
    return { data: { slug, revision: approval.revision, approved: true } };
  });

  routes.patch("/{slug}", {
    id: "setCargoPrice",
    is: "Change the price of a shipped Cargo",
    about:
      "Applies to new jobs at every coordinator, and survives catalog updates. For other Cargos (400), change the price in the definition.",
    access: "operator",
    body: z
      .object({ price_per_job: creditsSchema.nullable().describe("Null: restore the shipped price") })
      .openapi("SetCargoPrice"),
    answers: { 200: json(data(reviewSchema), "The Cargo with its price") },
    fails: [400, 404],
  })(async ({ c, identity, params: { slug }, body }) => {
    const review = await catalog.setPrice(actorOf(c, identity, deps), slug, body.price_per_job);
    return { data: presentCargoReview(review, null) };
  });

  routes.post("/{slug}/disabled", {
    id: "disableCargo",
    is: "Disable a Cargo for all accounts",
    about: "Waiting jobs fail; jobs on an Island continue.",
    access: "operator",
    answers: switched,
    fails: [404],
  })(async ({ c, identity, params: { slug } }) => {
    await catalog.setDisabled(actorOf(c, identity, deps), slug, true);
    return { data: { slug, disabled: true } };
  });

  routes.delete("/{slug}/disabled", {
    id: "enableCargo",
    is: "Enable a disabled Cargo, without approving it",
    access: "operator",
    answers: switched,
    fails: [404],
  })(async ({ c, identity, params: { slug } }) => {
    await catalog.setDisabled(actorOf(c, identity, deps), slug, false);
    return { data: { slug, disabled: false } };
  });
});
