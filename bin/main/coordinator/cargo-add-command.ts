import { resolve } from "node:path";
import type { Command } from "commander";
import type { StoredModel } from "../../../coordinator/catalog/imported-models.ts";
import type { CoordinatorConfig } from "../../../coordinator/config/resolve-config.ts";
import { PinLookupError } from "../../../coordinator/catalog/pin-lookup/lookup-http.ts";
import {
  addModel,
  countFittingIslands,
  type IslandCounts,
  type ModelPreview,
  presentModel,
  previewModel,
} from "../../../coordinator/operators/add-model.ts";
import { alignRows } from "../../../shared/cli/text-table.ts";
import { systemClock } from "../../../shared/clock.ts";
import { CliError } from "../../../shared/errors.ts";
import { formatBytes, MIB } from "../../../shared/format-bytes.ts";
import { readBaseUrl } from "../../../shared/settings.ts";
import { UsageError } from "../terminal/usage-errors.ts";
import type { CommandTools } from "./command-tools.ts";
import type { DataOptions } from "./data-commands.ts";
import { describePrice } from "./describe-cargo.ts";
import { commandActor, withCargos } from "./operator-tools.ts";

/** Time limit of all requests to the hub together. A model may have many files, each with a header. */
const LOOKUP_LIMIT_MS = 120_000;

interface AddCommandOptions extends DataOptions {
  readonly slug?: string;
  readonly context?: string;
  readonly slots?: string;
  readonly price?: string;
  /** Path of a projector; false with `--no-mmproj`. */
  readonly mmproj?: string | boolean;
  readonly hub?: string;
  readonly allowPrivate?: true;
  readonly dryRun?: true;
}

/** Adds `coordinator cargo add`, which makes a Cargo for a GGUF model. */
export function addCargoAddCommand(cargo: Command, { addDataOptions, print }: CommandTools): void {
  addDataOptions(cargo.command("add <source>"))
    .description(
      "Add a GGUF model as a Cargo for all accounts: hf.co/USER/REPO[:QUANT], an address of a file on the hub, a .gguf file, or ollama:NAME[:TAG]",
    )
    .option("--dry-run", "show the Cargo, and add nothing")
    .option("--slug <slug>", "name in requests (default: from the name of the model)")
    .option("--context <tokens>", "tokens of context for each concurrent job (default: 4096)")
    .option("--slots <n>", "concurrent jobs for which memory is computed (default: 4)")
    .option("--price <credits>", "price per job (default: by the number of parameters)")
    .option("--mmproj <file>", "projector for images, of a model on disk")
    .option("--no-mmproj", "leave out the projector for images")
    .option("--hub <url>", "URL of the model hub or of a mirror (default: hub_url)")
    .option("--allow-private", "allow registries and redirects in the local network")
    .action(async (source: string, options: AddCommandOptions) => {
      await withCargos(options, async (cargos, store, config) => {
        const preview = await lookUp(source, options, config);
        const islands = await countFittingIslands(preview.file, store, systemClock.now());
        const isAdded = options.dryRun !== true;
        const stored = isAdded ? await addModel(preview, commandActor(), cargos, config) : [];
        const lines = [
          describePreview(preview, islands),
          isAdded ? `Added ${preview.file.slug}: available to all accounts` : "Nothing was added (--dry-run)",
        ];
        // With a shared database, this command does not know the data directories of the coordinators.
        if (stored.length > 0 && config.storeAddress !== null) lines.push(describeCopies(stored));
        print(options, presentModel(preview, islands, isAdded), lines.join("\n"));
      });
    });
}

async function lookUp(
  source: string,
  options: AddCommandOptions,
  { hubUrl, hubToken }: CoordinatorConfig,
): Promise<ModelPreview> {
  const { hub = hubUrl, allowPrivate = false, slug, mmproj } = options;
  if (readBaseUrl(hub) === undefined) throw new UsageError(`--hub: must be an https URL, got ${JSON.stringify(hub)}`);
  const token = process.env["HF_TOKEN"]?.trim() || hubToken;
  const choices = {
    slug,
    contextTokens: readNumber("--context", options.context, /^\d{1,9}$/),
    slots: readNumber("--slots", options.slots, /^[1-9]\d{0,2}$/),
    price: readNumber("--price", options.price, /^\d+(\.\d+)?$/),
    projector: mmproj,
  };
  try {
    return await previewModel(source, choices, { hub, allowPrivate, token }, AbortSignal.timeout(LOOKUP_LIMIT_MS));
  } catch (error) {
    if (!(error instanceof PinLookupError)) throw error;
    const hint = error.isPrivate ? ". To allow it: --allow-private, or name the hub with --hub" : "";
    throw new CliError(`Nothing was added. ${error.message}${hint}`, { cause: error });
  }
}

function readNumber(flag: string, text: string | undefined, pattern: RegExp): number | undefined {
  if (text === undefined) return undefined;
  if (pattern.test(text)) return Number(text);
  throw new UsageError(`${flag}: must be a positive number, got ${JSON.stringify(text)}`);
}

function describePreview({ file, found, header }: ModelPreview, islands: IslandCounts): string {
  const { model, parts = [], projector } = file;
  const bytes = [model, ...parts].reduce((sum, each) => sum + (each?.size_bytes ?? 0), 0);
  const files = parts.length === 0 ? found.model.path : `${found.model.path} and ${parts.length} more files`;
  const kind = [header.architecture, `${file.parameters} parameters`, file.quantization].filter(Boolean).join(", ");
  const { required_ram_mb: ramMb, required_vram_mb: vramMb } = file;
  const need = [
    ...(vramMb === 0 ? [] : [`${formatBytes(vramMb * MIB)} of VRAM`]),
    `${formatBytes(ramMb * MIB)} of RAM`,
  ];
  const rows = [
    ["from", found.commit === null ? found.place : `${found.place} at commit ${found.commit}`],
    ["files", `${files}, ${formatBytes(bytes)}`],
    ...(projector === undefined
      ? []
      : [["projector", `${found.projector?.path}, ${formatBytes(projector.size_bytes)}`]]),
    [
      "model",
      `${kind}, trained for ${header.trainedTokens} tokens${header.chatTemplate === null && file.task === undefined ? ", no chat template" : ""}`,
    ],
    ["kind", file.task ?? "chat"],
    [
      "memory",
      `${need.join(" and ")}, for ${file.memory !== undefined && "sequences" in file.memory ? file.memory.sequences : 1} jobs of ${file.context_tokens} tokens`,
    ],
    ["licence", file.licence],
    [
      "gate",
      found.isGated ? "gated: each Island needs a models.hub_token whose account has accepted the terms" : "none",
    ],
    ["price", describePrice({ file, price: file.price_per_job })],
    ["Islands", `${islands.fitting} of ${islands.online} that are online have the runtime and the memory`],
  ];
  return `${file.slug}\n${alignRows(rows.map(([label = "", text = ""]) => [`  ${label}`, text]))}`;
}

function describeCopies(stored: readonly StoredModel[]): string {
  const paths = stored.map(({ path }) => resolve(path)).join(", ");
  return `Copy ${paths} to models/ in the data directory of each coordinator`;
}
