import { readFile, rm } from "node:fs/promises";
import type { Command } from "commander";
import { revisionOf } from "../../../coordinator/catalog/approval-rules.ts";
import type { CargoFile } from "../../../coordinator/catalog/cargo-fields.ts";
import { readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { missingPin, pinKindOf } from "../../../coordinator/catalog/cargo-pins.ts";
import {
  importedModelsDirectory,
  storeModelFile,
  type StoredModel,
} from "../../../coordinator/catalog/imported-models.ts";
import type { OperatorCargos } from "../../../coordinator/catalog/operator-cargos.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import type { Store } from "../../../coordinator/store/store.ts";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { coordinatorName } from "../terminal/command-line.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import type { CommandTools } from "./command-tools.ts";
import type { DataOptions } from "./data-commands.ts";
import { commandActor, trailOf } from "./operator-tools.ts";

interface ImportTools extends Pick<CommandTools, "onDataDirectory" | "print"> {
  readonly withCargos: (
    options: DataOptions,
    use: (cargos: OperatorCargos, store: Store, config: CoordinatorConfig) => Promise<void>,
  ) => Promise<void>;
}

/** `coordinator cargo import`: Cargos of the operator, with or without their file. */
export function addCargoImportCommand(cargo: Command, { onDataDirectory, print, withCargos }: ImportTools): void {
  onDataDirectory(cargo.command("import <files...>"))
    .description("Import Cargos from files (see catalog/README.md), or replace imported ones.")
    .option(
      "--file <path>",
      "program (.wasm) or model (.gguf, .onnx) of the one Cargo, which the coordinator then serves",
    )
    .action(async (files: string[], options: DataOptions & { file?: string }) => {
      if (options.file !== undefined && files.length > 1)
        throw new UsageError(`--file is of one Cargo, and ${files.length} are given`);
      await withCargos(options, async (cargos, store, config) => {
        const slugs: string[] = [];
        const lines: string[] = [];
        for (const path of files) {
          const text = await readFile(path, "utf8");
          const stored = options.file === undefined ? null : await storeFor(path, text, options.file, config);
          const slug = await importFile(cargos, path, stored?.text ?? text, store).catch(async (error: unknown) => {
            if (stored?.isNew === true) await rm(stored.path, { force: true });
            throw error;
          });
          slugs.push(slug);
          lines.push(await describeImport(cargos, slug, stored, config));
        }
        print(options, { imported: slugs }, lines.join("\n"));
      });
    });
}

/** Stores the file of a Cargo and names it in the definition. @throws {ServiceError} */
async function storeFor(
  path: string,
  text: string,
  source: string,
  config: CoordinatorConfig,
): Promise<StoredModel & { readonly text: string }> {
  const { slug, runtimeType } = readHead(path, text);
  const directory = importedModelsDirectory(config);
  const minFreeBytes = config.minFreeDiskBytes;
  const check = (definition: object): string => {
    const changed = JSON.stringify(definition);
    const read = readCargoFile(changed);
    if ("errors" in read) throw namingFile(path, new ValidationError(read.errors));
    return changed;
  };
  const { unpinned_reason: _, ...fields } = JSON.parse(text) as Record<string, unknown>;
  // Before the file is copied, which may take long.
  check({ ...fields, model: { url: "/models/x.wasm", sha256: "0".repeat(64), size_bytes: 1 } });
  const stored = await storeModelFile(source, { slug, runtimeType, directory, minFreeBytes });
  return { ...stored, text: check({ ...fields, model: stored.model }) };
}

/** @throws {ValidationError} if not even slug and runtime can be read. */
function readHead(path: string, text: string) {
  const read = readCargoFile(text);
  if ("file" in read) return { slug: read.file.slug, runtimeType: read.file.runtime_type };
  // All may be right but the model, which the file replaces.
  const problems = read.errors.filter(
    ({ path: field }) => field === "" || field === "slug" || field === "runtime_type",
  );
  if (problems.length > 0) throw namingFile(path, new ValidationError(problems));
  const { slug, runtime_type: type } = JSON.parse(text) as { slug: string; runtime_type: string };
  const runtimeType = RUNTIME_TYPES.find((each) => each === type);
  if (runtimeType === undefined) throw namingFile(path, new ValidationError(read.errors));
  return { slug, runtimeType };
}

async function importFile(cargos: OperatorCargos, path: string, text: string, store: Store): Promise<string> {
  const noting = (file: CargoFile) => {
    const after = { revision: revisionOf(file) };
    const deed = { action: "cargo.import", targetKind: "cargo", targetId: file.slug, after } as const;
    return trailOf(store).noting(commandActor(), deed).catalog;
  };
  try {
    return await cargos.importFile(text, noting);
  } catch (error) {
    throw error instanceof ServiceError ? namingFile(path, error) : error;
  }
}

function namingFile(path: string, error: ServiceError): ServiceError {
  const problems = error instanceof ValidationError ? error.details : [{ path: "", message: error.message }];
  const lines = problems.map(({ path: field, message }) => {
    const line = [path, field, message].filter((part) => part !== "").join(": ");
    if (field !== "model" && field !== "model.url") return line;
    return `${line}. For a file of your own: ${coordinatorName()} cargo import ${path} --file <path>`;
  });
  return new ServiceError(error.code, lines.join("\n"), { cause: error });
}

/** What the import did, and what is left to do. */
async function describeImport(
  cargos: OperatorCargos,
  slug: string,
  stored: StoredModel | null,
  { storeAddress }: CoordinatorConfig,
): Promise<string> {
  const { file, status } = await cargos.review(slug);
  const state = {
    offered: "offered to everybody",
    unpinned: `off until it is approved (${coordinatorName()} cargo approve ${slug})`,
  };
  const now = status === "offered" || status === "unpinned" ? state[status] : status;
  const isPinned = missingPin(file) === null;
  const pin =
    pinKindOf(file) === null
      ? ""
      : isPinned
        ? ", pinned"
        : `, not pinned (no ${PINS[missingPin(file) ?? "modelHash"]})`;
  const first = `Imported ${slug}: ${now}${pin}.`;
  if (stored === null) return pinKindOf(file) === null ? first : `${first} What it names was not looked at`;
  const where = `${first} The coordinator serves ${stored.path} (${formatBytes(stored.model.size_bytes)}) at ${stored.model.url}`;
  return storeAddress === null ? where : `${where}. Copy it to the same path on the machine of every other coordinator`;
}

const PINS = { modelHash: "sha256", modelCommit: "commit", imageDigest: "digest" } as const;
