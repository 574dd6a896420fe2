import { ATTEMPT_PHASES, type PhaseLimits } from "../../shared/attempt-phase.ts";
import { manifestOf, type Cargo } from "../../shared/cargo.ts";
import { verifyEndorsement, type Endorsement } from "../../shared/cargo-signature.ts";
import type { FieldError } from "../../shared/errors.ts";
import { MIB } from "../../shared/format-bytes.ts";
import { fieldErrorsOf } from "../../shared/zod-errors.ts";
import { microFromCredits } from "../credits/micro-credits.ts";
import { cargoFileShape, MS_PER_S, type CargoFile } from "./cargo-fields.ts";
import { cargoProblems, isChatFile } from "./cargo-rules.ts";
import { defaultInputSchemaOf, outputSchemaOf } from "./default-schemas.ts";

/** Schema of a file of catalog/cargos. An owner's Cargo has the same fields (cargo-service.ts). */
const cargoFileSchema = cargoFileShape.superRefine((file, context) => {
  for (const { path, message } of [...cargoProblems(file), ...signatureProblems(file)]) {
    context.addIssue({ code: "custom", path: path.split("."), message });
  }
});

/** Catalog entry without its number. */
export interface CatalogCargo extends Cargo {
  /** Number of parameters as in the file: "8B". */
  readonly parameters?: string;
  readonly quantization?: string;
  /** Signatures of other keys, which are also sent to Islands. */
  readonly endorsements?: readonly Endorsement[];
  /** Limit of a job's output in bytes; absent: what its input requests, or the setting. */
  readonly maxOutputBytes?: number;
}

/**
 * Converts a file to a Cargo in bytes (an MB of the file is 2^20), ms and micro-credits. An llmcpp Cargo without a task is a chat Cargo.
 */
export function cargoOf(file: CargoFile): CatalogCargo {
  const isChat = isChatFile(file);
  const phaseLimitsMs = phaseLimitsOf(file);
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
    model:
      file.model === null ? null : { url: file.model.url, sha256: file.model.sha256, sizeBytes: file.model.size_bytes },
    contextTokens: file.context_tokens,
    runLimitMs: Math.round(file.run_limit_s * MS_PER_S),
    waitLimitMs: Math.round(file.wait_limit_s * MS_PER_S),
    inputSchema: file.input_schema ?? defaultInputSchemaOf(file),
    exampleInput: file.example_input,
    outputSchema: outputSchemaOf(file),
    isChat,
    ...(phaseLimitsMs === null ? {} : { phaseLimitsMs }),
    ...(file.weights === undefined ? {} : { weights: file.weights }),
    ...(file.container === undefined ? {} : { container: file.container }),
    ...(file.task === undefined ? {} : { task: file.task }),
    ...(file.adapters === undefined
      ? {}
      : { adapters: file.adapters.map(({ size_bytes: sizeBytes, ...adapter }) => ({ ...adapter, sizeBytes })) }),
    ...(file.reasoning === true ? { reasoning: file.reasoning } : {}),
    ...(file.tools === "template" ? { tools: file.tools } : {}),
    ...(file.keep_alive_s === undefined ? {} : { keepAliveMs: Math.round(file.keep_alive_s * MS_PER_S) }),
    ...(file.args === undefined ? {} : { args: file.args }),
    ...(file.max_output_bytes === undefined ? {} : { maxOutputBytes: file.max_output_bytes }),
    ...(file.parameters === undefined ? {} : { parameters: file.parameters }),
    ...(file.quantization === undefined ? {} : { quantization: file.quantization }),
    ...(file.signatures === undefined ? {} : { endorsements: file.signatures.map(endorsementOf) }),
  };
}

/** Checks the signatures, because Islands would reject a signature of another definition. */
function signatureProblems(file: CargoFile): FieldError[] {
  const { signatures = [] } = file;
  if (signatures.length === 0) return [];
  const manifest = manifestOf(cargoOf(file));
  return signatures.flatMap((each, index) => {
    if (verifyEndorsement(manifest, endorsementOf(each))) return [];
    const message = "is not this key's signature of this Cargo; make it again with the command cargo sign";
    return [{ path: `signatures.${index}`, message }];
  });
}

function endorsementOf({ public_key, signature }: NonNullable<CargoFile["signatures"]>[number]): Endorsement {
  return { publicKey: public_key, signature };
}

/** Returns null for a file without phase limits. */
function phaseLimitsOf(file: CargoFile): Partial<PhaseLimits> | null {
  const limits = ATTEMPT_PHASES.flatMap((phase) => {
    const limitS = file[`${phase}_limit_s`];
    return limitS === undefined ? [] : [[phase, Math.round(limitS * MS_PER_S)]];
  });
  return limits.length === 0 ? null : (Object.fromEntries(limits) as Partial<PhaseLimits>);
}

/** Parses the JSON text of a file. Returns all invalid fields as errors. */
export function readCargoFile(text: string): { file: CargoFile } | { errors: FieldError[] } {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return {
      errors: [{ path: "", message: `is not JSON: ${error instanceof Error ? error.message : String(error)}` }],
    };
  }
  return readCargo(json);
}

/** Like {@link readCargoFile}, for a parsed value. */
export function readCargo(json: unknown): { file: CargoFile } | { errors: FieldError[] } {
  const parsed = cargoFileSchema.safeParse(json);
  if (parsed.success) return { file: parsed.data };
  return { errors: fieldErrorsOf(parsed.error, json) };
}
