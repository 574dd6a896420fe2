import { readFile, rm } from "node:fs/promises";
import { resolve } from "node:path";
import type { Command } from "commander";
import { readCargoFile } from "../../../coordinator/catalog/cargo-file.ts";
import { missingPin, pinKindOf } from "../../../coordinator/catalog/cargo-pins.ts";
import {
  importedModelsDirectory,
  storeModelFile,
  type StoredModel,
} from "../../../coordinator/catalog/imported-models.ts";
import type { CargoReview } from "../../../coordinator/operators/operator-cargos.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { RUNTIME_TYPES } from "../../../shared/cargo.ts";
import { ServiceError, ValidationError } from "../../../shared/errors.ts";
import { formatBytes } from "../../../shared/format-bytes.ts";
import { coordinatorName, givenFlags } from "../terminal/command-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import type { CommandTools } from "./command-tools.ts";
import type { DataOptions } from "./data-commands.ts";
import { commandActor, withCargos } from "./operator-tools.ts";

/**
 * Adds `coordinator cargo import`, which imports the operator's Cargos, each with or without a program or model file.
 */
export function addCargoImportCommand(cargo: Command, { addDataOptions, print }: CommandTools): void {
  addDataOptions(cargo.command("import <files...>"))
    .description("Import Cargos from JSON files (see docs/reference/cargo-format.md), or replace imported Cargos")
    .option("--file <path>", "program (.wasm) or model (.gguf, .onnx) that the coordinator serves for this Cargo")
    .action(async (files: string[], options: DataOptions & { file?: string }, command: Command) => {
      if (options.file !== undefined && files.length > 1)
        throw new UsageError(`--file applies to one Cargo, got ${files.length}. Run the command once for each Cargo`);
      await withCargos(options, async (cargos, _store, config) => {
        const flags = givenFlags(command, ["file", "json"]);
        const slugs: string[] = [];
        const lines: string[] = [];
        for (const path of files) {
          const text = await readFile(path, "utf8");
          const throwNamed = (error: unknown): never => throwWithPath(path, flags, error);
          const stored =
            options.file === undefined ? null : await storeModelFor(text, options.file, config, throwNamed);
          const slug = await cargos.importFile(commandActor(), stored?.text ?? text).catch(async (error: unknown) => {
            if (stored?.isNew === true) await rm(stored.path, { force: true });
            return throwNamed(error);
          });
          slugs.push(slug);
          lines.push(describeImport(await cargos.review(slug), stored, config, flags));
        }
        print(options, { imported: slugs }, lines.join("\n"));
      });
    });
}

/**
 * Stores the program or model of a Cargo and adds it to the definition.
 * @param fail throws the problems of the definition.
 * @throws {ServiceError}
 */
async function storeModelFor(
  text: string,
  source: string,
  config: CoordinatorConfig,
  fail: (error: ValidationError) => never,
): Promise<StoredModel & { readonly text: string }> {
  const { slug, runtimeType } = readHead(text, fail);
  const directory = importedModelsDirectory(config);
  const check = (definition: object): string => {
    const changed = JSON.stringify(definition);
    const read = readCargoFile(changed);
    if ("errors" in read) return fail(new ValidationError(read.errors));
    return changed;
  };
  const { unpinned_reason: _, ...fields } = JSON.parse(text) as Record<string, unknown>;
  // The definition is checked before the file is copied, because the copy may take long.
  check({ ...fields, model: { url: "/models/x.wasm", sha256: "0".repeat(64), size_bytes: 1 } });
  const stored = await storeModelFile(source, slug, runtimeType, directory, config.minFreeDiskBytes);
  return { ...stored, text: check({ ...fields, model: stored.model }) };
}

/** Reads the slug and the runtime type. Calls `fail` if either is invalid. */
function readHead(text: string, fail: (error: ValidationError) => never) {
  const read = readCargoFile(text);
  if ("file" in read) return { slug: read.file.slug, runtimeType: read.file.runtime_type };
  // The model may be missing or wrong, because the file replaces it.
  const problems = read.errors.filter(
    ({ path: field }) => field === "" || field === "slug" || field === "runtime_type",
  );
  if (problems.length > 0) return fail(new ValidationError(problems));
  const { slug, runtime_type: type } = JSON.parse(text) as { slug: string; runtime_type: string };
  const runtimeType = RUNTIME_TYPES.find((each) => each === type);
  if (runtimeType === undefined) return fail(new ValidationError(read.errors));
  return { slug, runtimeType };
}

/**
 * Throws the error again with the path of its file before the message. @param flags the flags of this command. @throws
 * {unknown}
 */
function throwWithPath(path: string, flags: string, error: unknown): never {
  if (!(error instanceof ServiceError)) throw error;
  const problems = error instanceof ValidationError ? error.details : [{ path: "", message: error.message }];
  const lines = problems.map(({ path: field, message }) => {
    const line = [path, field, message].filter((part) => part !== "").join(": ");
    if (field !== "model" && field !== "model.url") return line;
    return `${line}. To import it with a local file: ${coordinatorName()} cargo import ${shellWord(path)}${flags} --file <path>`;
  });
  throw new ServiceError(error.code, lines.join("\n"), { cause: error });
}

/** Describes the import and the next step. */
function describeImport(
  { file, status }: CargoReview,
  stored: StoredModel | null,
  { storeAddress }: CoordinatorConfig,
  flags: string,
): string {
  const { slug } = file;
  const state = {
    offered: "available to all accounts",
    unpinned: `off until you approve it (${coordinatorName()} cargo approve ${slug}${flags})`,
  };
  const now = status === "offered" || status === "unpinned" ? state[status] : status;
  const isPinned = missingPin(file) === null;
  const pin =
    pinKindOf(file) === null
      ? ""
      : isPinned
        ? ", pinned"
        : `, not pinned (${PINS[missingPin(file) ?? "modelHash"]} is missing)`;
  const first = `Imported ${slug}: ${now}${pin}.`;
  if (stored === null) return pinKindOf(file) === null ? first : `${first} The model or image was not checked`;
  const { size_bytes: size, url } = stored.model;
  const path = `${resolve(stored.path)} (${formatBytes(size)})`;
  if (storeAddress === null) return `${first} The coordinator serves ${path} at ${url}`;
  // With a shared database, this command does not know the data directories of the coordinators.
  return `${first} Copy ${path} to models/ in the data directory of each coordinator, which then serves it at ${url}`;
}

const PINS = { modelHash: "sha256", modelCommit: "commit", imageDigest: "digest" } as const;
