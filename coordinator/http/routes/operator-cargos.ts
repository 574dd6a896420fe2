import { z } from "@hono/zod-openapi";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { cargoFields } from "../../catalog/cargo-fields.ts";
import { CARGO_STATUSES, type CargoReview, pricedCargoOf } from "../../operators/operator-cargos.ts";
import { pinKindOf, type Pins, pinsOf } from "../../catalog/cargo-pins.ts";
import { presentPricing, pricingSchema } from "../schemas/model-facts.ts";
import { pageOf, pageQuery, presentPage } from "../schemas/pagination.ts";
import { data, json, orNull } from "../schemas/responses.ts";
import { creditsSchema, presentTime, timeSchema } from "../schemas/wire-units.ts";
import { routeGroup } from "../route-group.ts";
import { actorOf } from "./operator-actor.ts";

const PIN_KINDS = { imageDigest: "image_digest", modelHash: "model_hash", modelCommit: "model_commit" } as const;
const pin = z.string().max(200).optional();

const pinsSchema = z
  .object({
    image_digest: pin.describe("Digest (sha256:…) of the image's manifest"),
    model_hash: pin.describe("SHA-256 of the model's file or `files.json`, in hexadecimal"),
    model_commit: pin.describe("Commit of the model's folder on the hub"),
  })
  .openapi("CargoPins");

/** Fields that an approval signs. A pin (hash) is null if the Cargo has no such image or model. */
const signedSchema = z
  .object({
    runtime_type: z.enum(RUNTIME_TYPES),
    image: z.string().nullable(),
    image_digest: z
      .string()
      .nullable()
      .describe("Digest of the image; null if the Cargo has no image, or only a tag names it"),
    command: z.array(z.string()).nullable().describe("Command of the container; null if the image's own command runs"),
    network: z.boolean().describe("Whether the job can reach the public internet"),
    gpu: z.boolean(),
    model_url: z.string().nullable(),
    model_hash: z.string().nullable(),
    model_commit: z.string().nullable(),
    model_bytes: z.int().nullable(),
    args: z.array(z.string()).nullable(),
    required_ram_mb: z.number(),
    required_vram_mb: z.number(),
    price_per_job: creditsSchema,
  })
  .openapi("SignedCargo");

const shippedPriceSchema = creditsSchema.nullable().describe("Price in the shipped catalog; null for other Cargos");

const reviewSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.enum(CARGO_STATUSES),
    origin: z.enum(["shipped", "imported", "owned"]),
    owner_id: z.string().nullable(),
    owner_email: z.string().nullable(),
    revision: z.string().describe("Hash of `cargo`, which the approval must repeat"),
    pin: orNull(
      z.object({ kind: z.enum(Object.values(PIN_KINDS)), value: z.string().nullable() }).openapi("CargoPin"),
    ).describe(
      "Hash or digest that pins the Cargo to exact bytes; its `value` is null while the Cargo is not pinned. Null if the Cargo downloads nothing",
    ),
    approval: orNull(
      z
        .object({
          revision: z.string(),
          by: z.string().describe("Id of the operator's account, or user of the operating system"),
          at: timeSchema,
        })
        .openapi("CargoApproval"),
    ).describe("Most recent approval, of this definition or an earlier one; null before the first"),
    price_per_job: creditsSchema.describe("Current price for new jobs"),
    shipped_price_per_job: shippedPriceSchema,
    pricing: orNull(pricingSchema).describe("Current prices by size; null if each job costs `price_per_job`"),
    signs: signedSchema,
    cargo: z.record(z.string(), z.unknown()).describe("Complete definition, as in docs/reference/cargo-format.md"),
  })
  .openapi("CargoReview");

function readPins(body: z.infer<typeof pinsSchema>): Pins {
  return { imageDigest: body.image_digest, modelHash: body.model_hash, modelCommit: body.model_commit };
}

function presentCargoReview(review: CargoReview, ownerEmail: string | null): z.infer<typeof reviewSchema> {
  const { file, status, origin, ownerId, revision, approval } = review;
  const kind = pinKindOf(file);
  const pins = pinsOf(file);
  const { container, model } = file;
  return {
    slug: file.slug,
    name: file.name,
    description: file.description,
    status,
    origin,
    owner_id: ownerId,
    owner_email: ownerEmail,
    revision,
    pin: kind === null ? null : { kind: PIN_KINDS[kind], value: pins[kind] ?? null },
    approval: approval && { revision: approval.revision, by: approval.by, at: presentTime(approval.atMs) },
    price_per_job: review.price,
    shipped_price_per_job: origin === "shipped" ? file.price_per_job : null,
    pricing: presentPricing(pricedCargoOf(review)),
    signs: {
      runtime_type: file.runtime_type,
      image: container?.image ?? null,
      image_digest: container?.digest ?? null,
      command: container?.command === null || container === undefined ? null : [...container.command],
      network: container?.network ?? false,
      gpu: container?.gpu ?? false,
      model_url: model?.url ?? null,
      model_hash: pins.modelHash ?? null,
      model_commit: pins.modelCommit ?? null,
      model_bytes: model?.size_bytes ?? null,
      args: file.args === undefined ? null : [...file.args],
      required_ram_mb: file.required_ram_mb,
      required_vram_mb: file.required_vram_mb,
      price_per_job: file.price_per_job,
    },
    cargo: JSON.parse(JSON.stringify(file)) as Record<string, unknown>,
  };
}

const lineSchema = z
  .object({
    slug: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES).nullable(),
    status: z.enum(CARGO_STATUSES),
    origin: z.enum(["shipped", "imported", "owned"]),
    owner_id: z.string().nullable(),
    owner_email: z.string().nullable(),
    pinned: z
      .boolean()
      .nullable()
      .describe("Whether a hash pins the Cargo to exact bytes; null for a Cargo that is invalid in this version"),
    price_per_job: creditsSchema
      .nullable()
      .describe("Current price for new jobs; null for a Cargo that is invalid in this version"),
    shipped_price_per_job: shippedPriceSchema,
  })
  .openapi("KnownCargo");

const addSchema = z
  .object({
    source: z
      .string()
      .min(1)
      .max(2_000)
      .describe("hf.co/USER/REPO[:QUANT], an address of a file on the hub, or ollama:NAME[:TAG]"),
    slug: cargoFields.slug.optional().describe("Default: from the name of the model"),
    context_tokens: z.int().min(1).optional().describe("Default: 4,096, or less if the model was trained for less"),
    slots: z.int().min(1).max(999).optional().describe("Concurrent jobs for which memory is computed; default 4"),
    price_per_job: creditsSchema.optional().describe("Default: by the number of parameters"),
    projector: z.boolean().default(true).describe("False: without the projector for images"),
    dry_run: z.boolean().default(false).describe("True: look up the model, and add nothing"),
    revision: z
      .string()
      .max(200)
      .optional()
      .describe("`revision` of a preview; the model is added only if it still has it"),
  })
  .openapi("AddModel");

const modelSchema = z
  .object({
    slug: z.string(),
    revision: z.string(),
    added: z.boolean(),
    source: z.string(),
    commit: z.string().nullable().describe("Commit of the repository; null unless the model is on the hub"),
    licence: z.string(),
    gated: z.boolean().describe("Whether Islands need a models.hub_token whose account has accepted the terms"),
    architecture: z.string(),
    trained_context_tokens: z.int(),
    islands: z
      .object({ online: z.int(), fitting: z.int().describe("Those that have the runtime and the memory") })
      .openapi("ModelIslands"),
    cargo: z.record(z.string(), z.unknown()).describe("The whole definition; see docs/reference/cargo-format.md"),
  })
  .openapi("AddedModel");

const switched = { 200: json(data(z.object({ slug: z.string(), disabled: z.boolean() })), "Done") };

export const operatorCargoRoutes = routeGroup("/operator/cargos", { tag: "Operator" }, (routes, deps) => {
  const { cargos } = deps.operators;
  const emailOf = async (ownerId: string | null): Promise<string | null> =>
    ownerId === null ? null : ((await deps.store.accounts.get(ownerId))?.email ?? null);

  routes.get("", {
    id: "listNetworkCargos",
    is: "List all Cargos with their state, sorted by slug",
    access: "operator",
    query: z.object({
      ...pageQuery(),
      status: z
        .enum(CARGO_STATUSES)
        .optional()
        .describe("State of the Cargos; `waiting` means that they wait for an approval"),
    }),
    responses: { 200: json(pageOf(lineSchema), "A page of Cargos") },
  })(async ({ query: { limit, offset, status } }) => {
    const all = (await cargos.list()).filter((line) => status === undefined || line.status === status);
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
    return presentPage(shown, all.length, { limit, offset });
  });

  routes.post("", {
    id: "addModel",
    is: "Add a GGUF model as a Cargo for all accounts",
    about: "Looks up the files, their hashes and the header. With `dry_run`, changes nothing.",
    access: "operator",
    body: addSchema,
    responses: { 200: json(data(modelSchema), "The Cargo of the model") },
    fails: [400, 422],
  })(async ({ c, identity, body }) => {
    const { dry_run: isDryRun, context_tokens: contextTokens, price_per_job: price, ...rest } = body;
    const request = { ...rest, contextTokens, price, isDryRun };
    return { data: await deps.operators.models.add(actorOf(c, identity, deps), request) };
  });

  routes.get("/{slug}", {
    id: "getCargoReview",
    is: "Get the definition that an approval of the Cargo would sign",
    access: "operator",
    responses: { 200: json(data(reviewSchema), "The Cargo under review") },
    fails: [404],
  })(async ({ params: { slug } }) => {
    const review = await cargos.review(slug);
    return { data: presentCargoReview(review, await emailOf(review.ownerId)) };
  });

  routes.post("/{slug}/review", {
    id: "reviewCargo",
    is: "Look up the pin that a Cargo's approval needs",
    about:
      "A missing pin is looked up in the image's registry or on the model's hub. If the host does not respond within 2.5 s, the error names it. Nothing is changed.",
    access: "operator",
    body: pinsSchema,
    responses: { 200: json(data(reviewSchema), "The Cargo under review, with its pins") },
    fails: [400, 404],
  })(async ({ params: { slug }, body }) => {
    const review = await cargos.pinned(slug, readPins(body));
    return { data: presentCargoReview(review, await emailOf(review.ownerId)) };
  });

  routes.post("/{slug}/approval", {
    id: "approveCargo",
    is: "Approve the reviewed Cargo for all accounts",
    about:
      "Send `revision` and the pin of the review. If the Cargo has changed since then, the request is refused with 400. The approval signs the Cargo and enables it.",
    access: "operator",
    body: pinsSchema.extend({ revision: z.string().min(1).max(200) }).openapi("ApproveCargo"),
    responses: {
      200: json(data(z.object({ slug: z.string(), revision: z.string(), approved: z.literal(true) })), "Approved"),
    },
    fails: [400, 404],
  })(async ({ c, identity, params: { slug }, body }) => {
    const approval = await cargos.approve(actorOf(c, identity, deps), slug, body.revision, readPins(body));
    return { data: { slug, revision: approval.revision, approved: true } };
  });

  routes.patch("/{slug}", {
    id: "setCargoPrice",
    is: "Change the price of a shipped Cargo",
    about:
      "The price applies to new jobs at every coordinator, and survives catalog updates. Prices by size change by the same factor. Other Cargos are refused with 400; change the price in their definition.",
    access: "operator",
    body: z
      .object({ price_per_job: creditsSchema.nullable().describe("New price; null restores the shipped price") })
      .openapi("SetCargoPrice"),
    responses: { 200: json(data(reviewSchema), "The Cargo with its price") },
    fails: [400, 404],
  })(async ({ c, identity, params: { slug }, body }) => {
    const review = await cargos.setPrice(actorOf(c, identity, deps), slug, body.price_per_job);
    return { data: presentCargoReview(review, null) };
  });

  routes.post("/{slug}/disabled", {
    id: "disableCargo",
    is: "Disable a Cargo for all accounts",
    about: "Waiting jobs fail; jobs on an Island continue.",
    access: "operator",
    responses: switched,
    fails: [404],
  })(async ({ c, identity, params: { slug } }) => {
    await cargos.setDisabled(actorOf(c, identity, deps), slug, true);
    return { data: { slug, disabled: true } };
  });

  routes.delete("/{slug}/disabled", {
    id: "enableCargo",
    is: "Enable a disabled Cargo, without approving it",
    access: "operator",
    responses: switched,
    fails: [404],
  })(async ({ c, identity, params: { slug } }) => {
    await cargos.setDisabled(actorOf(c, identity, deps), slug, false);
    return { data: { slug, disabled: false } };
  });
});
