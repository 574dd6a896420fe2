import type { CargoFile } from "./cargo-fields.ts";
import { cargoOf } from "./cargo-file.ts";
import { modelKindOf } from "./model-kind.ts";

/** What a Cargo is for, in a word or two: "chat", "embedding", "object detection". */
export function purposeOf(file: CargoFile): string {
  const kind = modelKindOf(cargoOf(file));
  return (
    kind ?? file.onnx_task_type?.replaceAll("-", " ") ?? (file.container === undefined ? file.category : "container")
  );
}

/** What clients lack while shipped Cargos are off: no speech at all, and fewer models for embeddings. */
export function describeOff(off: readonly CargoFile[], offered: readonly CargoFile[]): string {
  const here = new Set(offered.map(purposeOf));
  const purposes = [...new Set(off.map(purposeOf))].sort();
  const parts = [
    ["clients get no ", purposes.filter((purpose) => !here.has(purpose))],
    ["and less choice for ", purposes.filter((purpose) => here.has(purpose))],
  ] as const;
  const lacking = parts.flatMap(([label, some]) => (some.length === 0 ? [] : [`${label}${some.join(", ")}`]));
  return `${off.length} shipped Cargos are off, as nobody has approved their files yet: ${lacking.join(", ")}`;
}
