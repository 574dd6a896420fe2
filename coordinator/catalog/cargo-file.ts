import { ATTEMPT_PHASES, type PhaseLimits } from "../../shared/attempt-phase.ts";
import { manifestOf, type Cargo } from "../../shared/cargo.ts";
import { verifyEndorsement, type Endorsement } from "../../shared/cargo-signature.ts";
import type { FieldError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { fieldErrorsOf } from "../../shared/zod-errors.ts";
import { isJsonObject } from "../../shared/json-value.ts";
import { creditsFromMicro, microFromCredits } from "../credits/micro-credits.ts";
import type { Trust } from "../credits/trust.ts";
import { type Pricing, pricingOf, referencePriceOf } from "../credits/pricing.ts";
import { cargoFields, cargoFileShape, MS_PER_S, type CargoFile } from "./cargo-fields.ts";
import { cargoProblems, isChatFile } from "./cargo-rules.ts";
import { defaultInputSchemaOf, outputSchemaOf } from "./default-schemas.ts";

/** Schema of a file in catalog/cargos. A Cargo of an account has the same fields (cargo-service.ts). */
const cargoFileSchema = cargoFileShape.superRefine((file, context) => {
  for (const { path, message } of [...cargoProblems(file), ...signatureProblems(file)]) {
    context.addIssue({ code: "custom", path: path.split("."), message });
  }
});

export interface CatalogCargo extends Cargo {
  /** Number of parameters, as in the file: "8B". */
  readonly parameters?: string;
  readonly quantization?: string;
  /** Prices by size that the file names. */
  readonly pricing?: Pricing;
  readonly endorsements?: readonly Endorsement[];
  /** Maximum output of a job in bytes. If absent, its input or the setting determines the limit. */
  readonly maxOutputBytes?: number;
  /** Trust that every job has at least. If absent, `any`. */
  readonly minTrust?: Trust;
}

/** Converts a file to a Cargo: MB (2^20 bytes) to bytes, seconds to ms, credits to micro-credits. */
export function cargoOf(file: CargoFile): CatalogCargo {
  return {
    slug: file.slug,
    name: file.name,
    description: file.description,
    category: file.category,
    runtimeType: file.runtime_type,
    onnxTaskType: file.onnx_task_type,
    licence: file.licence,
    priceMicro: microFromCredits(file.price_per_job),
    requiredRamBytes: file.required_ram_mb * MIB,
    requiredVramBytes: file.required_vram_mb * MIB,
    model: file.model === null ? null : fileRefOf(file.model),
    contextTokens: file.context_tokens,
    runLimitMs: Math.round(file.run_limit_s * MS_PER_S),
    waitLimitMs: Math.round(file.wait_limit_s * MS_PER_S),
    inputSchema: file.input_schema ?? defaultInputSchemaOf(file),
    exampleInput: file.example_input,
    outputSchema: outputSchemaOf(file),
    isChat: isChatFile(file),
    ...withoutUndefined({
      phaseLimitsMs: phaseLimitsOf(file),
      weights: file.weights,
      container: file.container,
      task: file.task,
      parts: file.parts?.map(fileRefOf),
      projector: file.projector === undefined ? undefined : fileRefOf(file.projector),
      readsImages: file.reads_images === true ? file.reads_images : undefined,
      adapters: file.adapters?.map((adapter) => ({ ...fileRefOf(adapter), scale: adapter.scale })),
      reasoning: file.reasoning === true ? file.reasoning : undefined,
      tools: file.tools === "template" ? file.tools : undefined,
      keepAliveMs: file.keep_alive_s === undefined ? undefined : Math.round(file.keep_alive_s * MS_PER_S),
      args: file.args,
      maxOutputBytes: file.max_output_bytes,
      minTrust: file.min_trust,
      pricing: file.pricing === undefined ? undefined : pricingOf(file.pricing),
      parameters: file.parameters,
      quantization: file.quantization,
      endorsements: file.signatures?.map(endorsementOf),
    }),
  };
}

/** Keeps the types of hash and size, which some files must have. */
function fileRefOf<Hash, Size>(file: { url: string; sha256: Hash; size_bytes: Size }) {
  return { url: file.url, sha256: file.sha256, sizeBytes: file.size_bytes };
}

type Defined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> };

function withoutUndefined<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** Verifies the signatures: Islands would reject a signature of another definition. */
function signatureProblems(file: CargoFile): FieldError[] {
  const { signatures = [] } = file;
  if (signatures.length === 0) return [];
  const manifest = manifestOf(cargoOf(file));
  return signatures.flatMap((each, index) => {
    if (verifyEndorsement(manifest, endorsementOf(each))) return [];
    const message = "is not this key's signature of this Cargo. Sign the Cargo again with the command cargo sign";
    return [{ path: `signatures.${index}`, message }];
  });
}

function endorsementOf({ public_key, signature }: NonNullable<CargoFile["signatures"]>[number]): Endorsement {
  return { publicKey: public_key, signature };
}

function phaseLimitsOf(file: CargoFile): Partial<PhaseLimits> | undefined {
  const limits = ATTEMPT_PHASES.flatMap((phase) => {
    const limitS = file[`${phase}_limit_s`];
    return limitS === undefined ? [] : [[phase, Math.round(limitS * MS_PER_S)]];
  });
  return limits.length === 0 ? undefined : (Object.fromEntries(limits) as Partial<PhaseLimits>);
}

/** Parses JSON text and validates it like {@link readCargo}. */
export function readCargoFile(text: string): { file: CargoFile } | { errors: FieldError[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    const message = `is not JSON: ${error instanceof Error ? error.message : String(error)}`;
    return { errors: [{ path: "", message }] };
  }
  return readCargo(json);
}

/** Validates a file. If it names only `pricing`, its `price_per_job` is that of a job of the reference size. */
export function readCargo(json: unknown): { file: CargoFile } | { errors: FieldError[] } {
  const priced = withPrice(json);
  const parsed = cargoFileSchema.safeParse(priced);
  if (parsed.success) return { file: parsed.data };
  return { errors: fieldErrorsOf(parsed.error, priced) };
}

function withPrice(json: unknown): unknown {
  if (!isJsonObject(json) || json["pricing"] === undefined || json["price_per_job"] !== undefined) return json;
  const { success, data } = cargoFields.pricing.safeParse(json["pricing"]);
  // The schema reports an invalid `pricing`.
  return { ...json, price_per_job: success ? creditsFromMicro(referencePriceOf(pricingOf(data))) : 0 };
}
