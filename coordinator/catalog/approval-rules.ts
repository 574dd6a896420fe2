import { createHash } from "node:crypto";
import { canonicalJson } from "../../shared/canonical-json.ts";
import { currentPricing } from "../credits/pricing.ts";
import type { CargoApproval } from "../store/catalog.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf, readCargo } from "./cargo-file.ts";
import { pinsOf, withPins } from "./cargo-pins.ts";

/** Fields that may change without a new approval: they change neither what runs, nor its display, nor access. */
const FREE_FIELDS: readonly (keyof CargoFile)[] = [
  ...(["licence", "example_input", "output_schema", "unpinned_reason", "signatures"] as const),
  ...(["required_ram_mb", "required_vram_mb", "parameters", "quantization", "memory", "price_per_job"] as const),
  ...(["run_limit_s", "wait_limit_s", "keep_alive_s", "pricing"] as const),
];

/** Returns whether definition `after` needs a new approval if `before` is approved. */
export function needsApproval(before: CargoFile, after: CargoFile): boolean {
  if (isDearer(before, after)) return true;
  // If too little memory is required, jobs would use up the memory of Islands.
  if (after.required_ram_mb < before.required_ram_mb || after.required_vram_mb < before.required_vram_mb) return true;
  const names = new Set([...Object.keys(before), ...Object.keys(after)] as (keyof CargoFile)[]);
  return [...names]
    .filter((name) => !FREE_FIELDS.includes(name))
    .some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}

/** Returns whether a job of some size costs more, or is priced by another unit. */
function isDearer(before: CargoFile, after: CargoFile): boolean {
  if (after.price_per_job > before.price_per_job) return true;
  const old = ratesOf(before);
  const rates = ratesOf(after);
  const units = new Set([...old.keys(), ...rates.keys()]);
  return [...units].some((unit) => (rates.get(unit) ?? Infinity) > (old.get(unit) ?? -1));
}

function ratesOf(file: CargoFile): ReadonlyMap<string, number> {
  return new Map(Object.entries(currentPricing(cargoOf(file))?.rates ?? {}));
}

/** Returns the revision of a definition: SHA-256 of its canonical JSON, in hex. */
export function revisionOf(file: CargoFile): string {
  // Serialization removes undefined fields, which mean the same as absent ones.
  const definition: unknown = JSON.parse(JSON.stringify(file));
  return createHash("sha256").update(canonicalJson(definition)).digest("hex");
}

/** Returns a shipped Cargo with the approved pins; null if the file changed so that it needs a new approval. */
export function approvedForm(file: CargoFile, approval: Pick<CargoApproval, "file">): CargoFile | null {
  const approved = readCargo(approval.file);
  if ("errors" in approved) return null;
  const pinned = withPins(file, pinsOf(approved.file));
  return needsApproval(approved.file, pinned) ? null : pinned;
}
