import { createRoute, z } from "@hono/zod-openapi";
import { CARGO_CATEGORIES, RUNTIME_TYPES } from "../../shared/cargo.ts";
import type { CatalogEntry } from "../catalog/catalog.ts";
import { servePublic } from "./endpoint.ts";
import { API_BASE, type HttpApp, type HttpDeps } from "./http-deps.ts";
import { creditsSchema, presentCredits, presentMegabytes } from "./presenters.ts";
import { data, failures, json } from "./responses.ts";

const cargoSchema = z
  .object({
    slug: z.string(),
    name: z.string(),
    description: z.string(),
    runtime_type: z.enum(RUNTIME_TYPES),
    onnx_task_type: z.string().nullable(),
    category: z.enum(CARGO_CATEGORIES),
    price_per_job: creditsSchema,
    required_vram_mb: z.int(),
    required_ram_mb: z.int(),
    context_tokens: z.int().nullable(),
    licence: z.string(),
    chat: z.boolean().openapi({ description: "May be the `model` of a chat completion" }),
  })
  .openapi("Cargo");

const cargoDetailSchema = cargoSchema
  .extend({
    workload_id: z.int(),
    input_schema: z.record(z.string(), z.unknown()).openapi({ description: "JSON Schema of a job's input" }),
    example_input: z.record(z.string(), z.unknown()),
    run_limit_s: z.number(),
    wait_limit_s: z.number(),
  })
  .openapi("CargoDetail");

const listRoute = createRoute({
  method: "get",
  path: `${API_BASE}/cargos`,
  summary: "Enabled and approved Cargos, by slug",
  request: {
    query: z.object({
      runtime_type: z.enum(RUNTIME_TYPES).optional(),
      category: z.enum(CARGO_CATEGORIES).optional(),
    }),
  },
  responses: { 200: json(z.object({ cargos: z.array(cargoSchema), count: z.int() }), "Cargos"), ...failures },
});

const detailRoute = createRoute({
  method: "get",
  path: `${API_BASE}/cargos/{slug}`,
  summary: "A Cargo with the schema of its input",
  request: { params: z.object({ slug: z.string() }) },
  responses: { 200: json(data(cargoDetailSchema), "The Cargo"), ...failures },
});

export function serveCargos(app: HttpApp, { catalog }: HttpDeps): void {
  servePublic(app, listRoute, ({ c, query }) => {
    const cargos = catalog.list({ runtimeType: query.runtime_type, category: query.category }).map(presentCargo);
    return c.json({ cargos, count: cargos.length });
  });
  servePublic(app, detailRoute, ({ c, params }) => c.json({ data: presentCargoDetail(catalog.get(params.slug)) }));
}

function presentCargo(cargo: CatalogEntry): z.infer<typeof cargoSchema> {
  return {
    slug: cargo.slug,
    name: cargo.name,
    description: cargo.description,
    runtime_type: cargo.runtimeType,
    onnx_task_type: cargo.onnxTaskType,
    category: cargo.category,
    price_per_job: presentCredits(cargo.priceMicro),
    required_vram_mb: presentMegabytes(cargo.requiredVramBytes),
    required_ram_mb: presentMegabytes(cargo.requiredRamBytes),
    context_tokens: cargo.contextTokens,
    licence: cargo.licence,
    chat: cargo.isChat,
  };
}

function presentCargoDetail(cargo: CatalogEntry): z.infer<typeof cargoDetailSchema> {
  return {
    ...presentCargo(cargo),
    workload_id: cargo.workloadId,
    input_schema: { ...cargo.inputSchema },
    example_input: { ...cargo.exampleInput },
    run_limit_s: cargo.runLimitMs / 1_000,
    wait_limit_s: cargo.waitLimitMs / 1_000,
  };
}
