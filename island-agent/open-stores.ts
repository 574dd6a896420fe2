import { join } from "node:path";
import type { Clock } from "../shared/clock.ts";
import type { CargoStores } from "./cargo-files.ts";
import type { AgentConfig } from "./config/resolve-agent-config.ts";
import { CargoNames } from "./models/cargo-names.ts";
import { resolveFetchPolicy } from "./models/fetch-policy.ts";
import { FolderStore } from "./models/folder-store.ts";
import { ModelDirectoryError } from "./models/model-directory-error.ts";
import { ModelStore } from "./models/model-store.ts";

export interface OpenStores extends Omit<CargoStores, "images">, AsyncDisposable {}

/** Where a data directory has its models. */
export function modelDirectoryOf(dataDirectory: string): string {
  return join(dataDirectory, "models");
}

/**
 * Opens what a data directory has on models; one process at a time.
 * @throws {DirectoryInUseError | ModelDirectoryError}
 */
export async function openStores(
  dataDirectory: string,
  { coordinator, models: settings }: Pick<AgentConfig, "coordinator" | "models">,
  clock: Clock,
): Promise<OpenStores> {
  const directory = modelDirectoryOf(dataDirectory);
  const fetch = {
    coordinatorUrl: coordinator.apiUrl,
    hubEndpoint: settings.hubEndpoint,
    hubToken: settings.hubToken,
    allowPrivateAddresses: settings.allowPrivateAddresses,
  };
  await using opened = new AsyncDisposableStack();
  const models = await ModelStore.open({ directory, budgetBytes: settings.diskBudgetBytes, clock, fetch });
  opened.defer(() => models.close());
  const context = { policy: resolveFetchPolicy(fetch), clock };
  const folders = await FolderStore.open({ models, directory: join(directory, "folders"), context }).catch(
    (error: unknown) => {
      throw ModelDirectoryError.of(directory, error) ?? error;
    },
  );
  opened.defer(() => folders.close());
  const names = await CargoNames.open(directory);
  opened.defer(() => names.close());
  const stack = opened.move();
  return { models, folders, names, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}
