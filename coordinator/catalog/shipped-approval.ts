import type { CargoApproval } from "../store/catalog.ts";
import { needsApproval } from "./approval-rules.ts";
import type { CargoFile } from "./cargo-fields.ts";
import { readCargo } from "./cargo-file.ts";
import { pinsOf, withPins } from "./cargo-pins.ts";

/**
 * A shipped Cargo with the pins that the operator approved. Null when the file has changed since so that it needs a new approval: the
 * pins then belong to another Cargo.
 */
export function approvedForm(file: CargoFile, approval: Pick<CargoApproval, "file">): CargoFile | null {
  const approved = readCargo(approval.file);
  if ("errors" in approved) return null;
  const pinned = withPins(file, pinsOf(approved.file));
  return needsApproval(approved.file, pinned) ? null : pinned;
}
