import { containerSchema, hasFolderModel, modelRefSchema } from "../../shared/cargo.ts";
import { isHubAddress } from "../../shared/model-address.ts";
import type { CargoFile } from "./cargo-fields.ts";

/** Pins that tie a Cargo to exact bytes. */
export interface Pins {
  readonly imageDigest?: string | undefined;
  /** SHA-256 in hex of the model's file, or of the `files.json` of its folder. */
  readonly modelHash?: string | undefined;
  /** Commit of the model's folder on the hub, 40 hex digits. */
  readonly modelCommit?: string | undefined;
}
export type PinKind = keyof Pins;

const COMMIT = /^[0-9a-f]{40}$/;

export function pinKindOf(file: CargoFile): PinKind | null {
  if (file.container !== undefined) return "imageDigest";
  // The address of an engine's model contains its commit, or nothing can prove the model.
  if (file.model === null || file.runtime_type === "engine") return null;
  return isHubFolder(file) ? "modelCommit" : "modelHash";
}

export function pinsOf(file: CargoFile): Pins {
  switch (pinKindOf(file)) {
    case "imageDigest":
      return { imageDigest: file.container?.digest ?? undefined };
    case "modelHash":
      return { modelHash: file.model?.sha256 ?? undefined };
    case "modelCommit": {
      const revision = file.model?.url.split("#")[1] ?? "";
      return { modelCommit: COMMIT.test(revision) ? revision : undefined };
    }
    default:
      return {};
  }
}

/**
 * Returns the kind of pin that a Cargo lacks, so that its content could change under the same signature; null for none.
 */
export function missingPin(file: CargoFile): PinKind | null {
  const kind = pinKindOf(file);
  return kind === null || pinsOf(file)[kind] !== undefined ? null : kind;
}

/** Returns whether a catalog file is disabled because it has no pin yet. */
export function isOffUnpinned(file: CargoFile): boolean {
  return file.unpinned_reason !== undefined && missingPin(file) !== null;
}

/** Returns the Cargo with its pin and without `unpinned_reason`; unchanged if `pins` does not have its kind of pin. */
export function withPins(file: CargoFile, pins: Pins): CargoFile {
  const kind = pinKindOf(file);
  const pin = kind === null ? undefined : pins[kind];
  if (kind === null || pin === undefined) return file;
  const { unpinned_reason: _, ...rest } = file;
  const { container, model } = file;
  if (container !== undefined) return { ...rest, container: { ...container, digest: pin } };
  if (model === null) return file;
  if (kind === "modelHash") return { ...rest, model: { ...model, sha256: pin } };
  return { ...rest, model: { ...model, url: `${model.url.split("#")[0]}#${pin}` } };
}

export function isPin(kind: PinKind, text: string): boolean {
  if (kind === "modelCommit") return COMMIT.test(text);
  if (kind === "modelHash") return modelRefSchema.shape.sha256.safeParse(text).success;
  return containerSchema.shape.digest.safeParse(text).success;
}

export function isHubFolder({ runtime_type: runtimeType, model }: CargoFile): boolean {
  if (model === null || !isHubAddress(model.url)) return false;
  return hasFolderModel({ runtimeType, model: { ...model, sizeBytes: model.size_bytes } });
}
