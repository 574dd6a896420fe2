import { rm } from "node:fs/promises";
import { findModel, type FoundModel } from "../catalog/add-model/find-model.ts";
import { type ModelHeader, readHeader } from "../catalog/add-model/gguf-header.ts";
import { type HubPolicy, openHubRequests } from "../catalog/add-model/hub-requests.ts";
import { OLLAMA_REGISTRY, parseModelSource } from "../catalog/add-model/model-source.ts";
import { type AddOptions, planCargo } from "../catalog/add-model/plan-cargo.ts";
import { revisionOf } from "../catalog/approval-rules.ts";
import type { CargoFile } from "../catalog/cargo-fields.ts";
import { cargoOf } from "../catalog/cargo-file.ts";
import { importedModelsDirectory, storeModelFile, type StoredModel } from "../catalog/imported-models.ts";
import { PinLookupError } from "../catalog/pin-lookup/lookup-http.ts";
import type { Clock } from "../../shared/clock.ts";
import { ServiceError } from "../../shared/errors.ts";
import { totalVramBytes } from "../../shared/hardware.ts";
import { SEEN_LATELY_MS } from "../islands/island-service.ts";
import { fits } from "../scheduler/fit.ts";
import type { Store } from "../store/store.ts";
import type { Actor } from "./audit-trail.ts";
import type { OperatorCargos } from "./operator-cargos.ts";

/** Islands that a preview looks at, those seen last first. */
const MAX_ISLANDS = 1_000;
const PAGE = 100;
/** Time limit of all requests to the hub for a request of the API. */
const REMOTE_LIMIT_MS = 30_000;

/** A Cargo that is not added yet, and what is known about its model. */
export interface ModelPreview {
  readonly file: CargoFile;
  readonly found: FoundModel;
  readonly header: ModelHeader;
}

/** Islands seen in the last minutes, and how many of them have the runtime and the memory. */
export interface IslandCounts {
  readonly online: number;
  readonly fitting: number;
}

export interface PreviewOptions extends AddOptions {
  /** False: without the projector for images. A path: the projector of a model on disk. */
  readonly projector?: boolean | string | undefined;
}

/**
 * Returns the Cargo for a model, without downloading or storing it.
 * @param text source as the operator writes it
 * @throws {ServiceError} `bad_request`; {@link ValidationError}; {@link PinLookupError}
 */
export async function previewModel(
  text: string,
  { projector = true, ...options }: PreviewOptions,
  policy: HubPolicy,
  signal: AbortSignal,
): Promise<ModelPreview> {
  const source = parseModelSource(text, policy.hub);
  if (typeof projector === "string" && source.kind !== "disk") {
    throw new ServiceError("bad_request", "The projector's file can be named only for a model on disk");
  }
  const access: HubPolicy =
    source.kind === "ollama" ? { ...policy, hub: source.registry.origin, token: null, isRegistry: true } : policy;
  const requests = openHubRequests(access, signal);
  const all = await findModel(source, policy.hub, requests);
  const found = projector === false ? { ...all, projector: null } : all;
  const named =
    typeof projector === "string" ? await findModel({ kind: "disk", path: projector }, "", requests) : found;
  const whole = named === found ? found : { ...found, projector: named.model };
  const header = await readHeader(whole, requests);
  return { file: planCargo(whole, header, options), found: whole, header };
}

/** Counts connected Islands that can run a Cargo once it is added, by their last reports. */
export async function countFittingIslands(
  file: CargoFile,
  { operators }: Pick<Store, "operators">,
  nowMs: number,
): Promise<IslandCounts> {
  const cargo = { ...cargoOf(file), onlyIslandsOf: null };
  const counts = { online: 0, fitting: 0 };
  for (let offset = 0; offset < MAX_ISLANDS; offset += PAGE) {
    const filter = { seenSinceMs: nowMs - SEEN_LATELY_MS, isSuspended: false };
    const { islands } = await operators.islands(filter, { limit: PAGE, offset });
    for (const { accountId, hardware, runtimes } of islands) {
      const vramBytes = totalVramBytes(hardware);
      const types = runtimes.map(({ type }) => type);
      const island = { accountId, runtimes: types, ramBytes: hardware.ramBytes, vramBytes, draining: false };
      counts.online += 1;
      if (fits(cargo, island) === true) counts.fitting += 1;
    }
    if (islands.length < PAGE) break;
  }
  return counts;
}

/**
 * Adds the Cargo of a preview, for all accounts. Files on disk are copied to where the coordinator serves them; after a
 * failure, nothing is left.
 * @throws {ServiceError} `slug_taken`, `bad_request`; {@link ValidationError}
 */
export async function addModel(
  { file, found }: ModelPreview,
  actor: Actor,
  cargos: OperatorCargos,
  config: { readonly dataDirectory: string; readonly minFreeDiskBytes: number },
): Promise<readonly StoredModel[]> {
  await assertFree(file, cargos);
  const stored: StoredModel[] = [];
  try {
    const files = [found.model, ...found.parts, ...(file.projector === undefined ? [] : [found.projector])];
    for (const each of files) {
      if (each === null || typeof each.from !== "string") continue;
      const directory = importedModelsDirectory(config);
      const { from, sha256 } = each;
      stored.push(await storeModelFile(from, file.slug, "llmcpp", directory, config.minFreeDiskBytes, sha256));
    }
    await cargos.importFile(actor, JSON.stringify(file));
    return stored;
  } catch (error) {
    for (const { path, isNew } of stored) if (isNew) await rm(path, { force: true });
    throw error;
  }
}

/** Returns the JSON of a preview, for the API and for the command. */
export function presentModel({ file, found, header }: ModelPreview, islands: IslandCounts, isAdded: boolean) {
  return {
    slug: file.slug,
    revision: revisionOf(file),
    added: isAdded,
    source: found.place,
    commit: found.commit,
    licence: file.licence,
    gated: found.isGated,
    architecture: header.architecture,
    trained_context_tokens: header.trainedTokens,
    islands,
    cargo: JSON.parse(JSON.stringify(file)) as Record<string, unknown>,
  };
}

interface AddRequest extends Omit<PreviewOptions, "projector"> {
  readonly projector: boolean;
  readonly source: string;
  /** Revision of a preview that the request must still have; absent: any. */
  readonly revision?: string | undefined;
  /** Whether nothing is added. */
  readonly isDryRun: boolean;
}

/** Adds models for the API, which reads no files on disk and asks only the hub and Ollama's registry. */
export function remoteModels(
  store: Pick<Store, "operators">,
  cargos: OperatorCargos,
  config: {
    readonly dataDirectory: string;
    readonly minFreeDiskBytes: number;
    readonly hubUrl: string;
    readonly hubToken: string | null;
  },
  clock: Pick<Clock, "now">,
) {
  return {
    /** @throws {ServiceError} `bad_request`, `slug_taken`; {@link ValidationError} */
    async add(actor: Actor, { source, revision, isDryRun, ...options }: AddRequest) {
      const policy = { hub: config.hubUrl, token: config.hubToken, allowPrivate: false };
      const from = parseModelSource(source, policy.hub);
      if (from.kind === "disk" || (from.kind === "ollama" && from.registry.origin !== OLLAMA_REGISTRY)) {
        const message = "Files on disk and other registries can be added only with the command coordinator cargo add";
        throw new ServiceError("bad_request", message);
      }
      const limit = AbortSignal.timeout(REMOTE_LIMIT_MS);
      const preview = await previewModel(source, options, policy, limit).catch((error: unknown) => {
        throw error instanceof PinLookupError
          ? new ServiceError("bad_request", error.message, { cause: error })
          : error;
      });
      if (revision !== undefined && revision !== revisionOf(preview.file)) {
        throw new ServiceError("bad_request", "The model has changed since the preview. Preview it again");
      }
      const islands = await countFittingIslands(preview.file, store, clock.now());
      if (!isDryRun) await addModel(preview, actor, cargos, config);
      return presentModel(preview, islands, !isDryRun);
    },
  };
}
export type RemoteModels = ReturnType<typeof remoteModels>;

/** A Cargo may be added again, with another price or context. @throws {ServiceError} `slug_taken` */
async function assertFree({ slug, model }: CargoFile, cargos: OperatorCargos): Promise<void> {
  const line = (await cargos.list()).find((each) => each.slug === slug);
  if (line === undefined) return;
  const isSame = line.origin === "imported" && (await cargos.review(slug)).file.model?.sha256 === model?.sha256;
  if (!isSame) throw new ServiceError("slug_taken", `Another Cargo has the slug "${slug}". Choose another slug`);
}
