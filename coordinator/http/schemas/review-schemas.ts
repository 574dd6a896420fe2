import { z } from "@hono/zod-openapi";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { pinKindOf, pinsOf, type PinKind, type Pins } from "../../catalog/cargo-pins.ts";
import { CARGO_STATUSES, type CargoReview } from "../../catalog/operator-cargos.ts";
import { orNull } from "./responses.ts";
import { creditsSchema, presentTime, timeSchema } from "./wire-units.ts";

const PIN_KINDS = { imageDigest: "image_digest", modelHash: "model_hash", modelCommit: "model_commit" } as const;
const PIN_NAMES = Object.values(PIN_KINDS);
const pin = z.string().max(200).optional();

export const pinsSchema = z
  .object({
    image_digest: pin.describe("Digest (sha256:…) of the image's manifest"),
    model_hash: pin.describe("SHA-256 of the model's file or files.json, in hex"),
    model_commit: pin.describe("Commit of the model's folder on the hub"),
  })
  .openapi("CargoPins");

/** Where the pin is that an image or a model has, or lacks. */
const signedSchema = z
  .object({
    runtime_type: z.enum(RUNTIME_TYPES),
    image: z.string().nullable(),
    image_digest: z.string().nullable().describe("Null for an image: not pinned, the tag decides"),
    command: z.array(z.string()).nullable().describe("Null: the image's own command"),
    network: z.boolean().describe("Whether it can reach the public internet"),
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

export const reviewSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    status: z.enum(CARGO_STATUSES),
    origin: z.enum(["shipped", "imported", "owned"]),
    owner_id: z.string().nullable(),
    owner_email: z.string().nullable(),
    revision: z.string().describe("Hash of `cargo`, which the approval must repeat"),
    pin: orNull(z.object({ kind: z.enum(PIN_NAMES), value: z.string().nullable() }).openapi("CargoPin")).describe(
      "What pins it to exact bytes; a null member: not pinned yet. Null: it downloads nothing",
    ),
    approval: orNull(
      z
        .object({
          revision: z.string(),
          by: z.string().describe("Operator's account, or user of the operating system"),
          at: timeSchema,
        })
        .openapi("CargoApproval"),
    ).describe("The last approval, of this definition or an earlier one"),
    price_per_job: creditsSchema.describe("Current price for new jobs"),
    shipped_price_per_job: creditsSchema.nullable().describe("Price in the shipped catalog; null for other Cargos"),
    signs: signedSchema,
    cargo: z.record(z.string(), z.unknown()).describe("The whole definition; see docs/reference/cargo-format.md"),
  })
  .openapi("CargoReview");

export function readPins(body: z.infer<typeof pinsSchema>): Pins {
  return { imageDigest: body.image_digest, modelHash: body.model_hash, modelCommit: body.model_commit };
}

export function presentCargoReview(review: CargoReview, ownerEmail: string | null): z.infer<typeof reviewSchema> {
  const { file, status, origin, ownerId, revision, approval } = review;
  const kind: PinKind | null = pinKindOf(file);
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
    approval:
      approval === null ? null : { revision: approval.revision, by: approval.by, at: presentTime(approval.atMs) },
    price_per_job: review.price,
    shipped_price_per_job: origin === "shipped" ? file.price_per_job : null,
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
