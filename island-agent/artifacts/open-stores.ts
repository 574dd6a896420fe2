import { join } from "node:path";
import { z } from "zod";
import type { Clock } from "../../shared/clock.ts";
import type { ArtifactStore } from "./artifact-store.ts";
import type { AgentConfig } from "../config/resolve-agent-config.ts";
import type { DiskState } from "../disk/describe-disk.ts";
import { freeBytesOn } from "../disk/free-bytes.ts";
import { openCargoNames, type CargoNames } from "./cargo-names.ts";
import { imageArtifacts } from "./image-artifacts.ts";
import { modelArtifacts } from "./model-artifacts.ts";
import { resolveFetchPolicy } from "../models/download/fetch-policy.ts";
import { FolderStore } from "../models/folders/folder-store.ts";
import { ModelDirectoryError } from "../models/store/model-directory-error.ts";
import { ModelStore } from "../models/store/model-store.ts";
import type { EngineSearch } from "../runtimes/container/engine-address.ts";
import { findEngine } from "../runtimes/container/find-engine.ts";
import { ImageStore } from "../runtimes/container/image-store.ts";

export interface OpenStores extends AsyncDisposable {
  readonly artifacts: readonly ArtifactStore[];
  readonly names: CargoNames;
  /** @see ModelStore.adopt */
  readonly adopt: (file: ImportedFile) => Promise<boolean>;
  readonly disk: () => DiskState;
  /** Null if the owner has disabled containers. */
  readonly images: ImageStore | null;
}

/** A verified model in a file of the models' directory, which the store takes over. */
export const importedFileSchema = z.object({
  path: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Extension of the file's name, without the dot; may be empty. */
  extension: z.string().regex(/^(?:[a-z0-9]{1,8})?$/),
  cargos: z.array(z.string()),
});
type ImportedFile = z.infer<typeof importedFileSchema>;

export function modelDirectoryOf(dataDirectory: string): string {
  return join(dataDirectory, "models");
}

/**
 * Opens the stores of a data directory, which belong to one process at a time.
 * @param currentCoordinatorUrl returns the network's current coordinator address; default: the first address.
 * @throws {DirectoryInUseError | ModelDirectoryError}
 */
export async function openStores(
  dataDirectory: string,
  { coordinator, models: settings, containers }: Pick<AgentConfig, "coordinator" | "models" | "containers">,
  engine: EngineSearch,
  clock: Clock,
  currentCoordinatorUrl?: () => string,
): Promise<OpenStores> {
  const directory = modelDirectoryOf(dataDirectory);
  const fetch = {
    coordinatorUrl: coordinator.apiUrls?.[0] ?? null,
    ...(currentCoordinatorUrl === undefined ? {} : { currentCoordinatorUrl }),
    hubEndpoint: settings.hubEndpoint,
    hubToken: settings.hubToken,
    allowPrivateAddresses: settings.allowPrivateAddresses,
  };
  await using opened = new AsyncDisposableStack();
  const { diskBudgetBytes: budgetBytes, minFreeBytes } = settings;
  const models = await ModelStore.open({ directory, budgetBytes, minFreeBytes, clock, fetch });
  opened.defer(() => models.close());
  const context = { policy: resolveFetchPolicy(fetch), clock };
  const folders = await FolderStore.open({ models, directory: join(directory, "folders"), context }).catch(
    (error: unknown) => {
      throw ModelDirectoryError.of(directory, error) ?? error;
    },
  );
  opened.defer(() => folders.close());
  const names = await openCargoNames(directory);
  opened.defer(() => names.close());
  const images = containers.enabled ? await openImages(dataDirectory, containers, minFreeBytes, engine, clock) : null;
  if (images !== null) opened.defer(() => images.close());
  const stack = opened.move();
  const artifacts = [...modelArtifacts(models, folders), ...(images === null ? [] : [imageArtifacts(images)])];
  const disk = (): DiskState => ({ ...models.usage(), freeBytes: freeBytesOn(directory), minFreeBytes });
  const adopt = async ({ path, sha256, extension, cargos }: ImportedFile): Promise<boolean> => {
    const isNew = await models.adopt(path, sha256, extension);
    for (const slug of isNew ? cargos : []) names.note(slug, sha256);
    return isNew;
  };
  return { artifacts, names, adopt, disk, images, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

function openImages(
  dataDirectory: string,
  { registries, diskBudgetBytes }: AgentConfig["containers"],
  minFreeBytes: number,
  search: EngineSearch,
  clock: Clock,
): Promise<ImageStore> {
  return ImageStore.open({
    directory: join(dataDirectory, "images"),
    budgetBytes: diskBudgetBytes,
    minFreeBytes,
    allowedRegistries: registries,
    findEngine: async (signal) => (await findEngine(search, clock, signal)).engine,
    clock,
  });
}
